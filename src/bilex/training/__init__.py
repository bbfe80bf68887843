"""Parts of methods that learn by gradient: context, adapter, losses, negatives."""
