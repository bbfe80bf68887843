"""One file per published system. `bilex.methods.base` holds the contract and finds them by name."""
