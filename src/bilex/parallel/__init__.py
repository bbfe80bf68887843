"""Work in processes of its own, on this machine or on a cluster."""
