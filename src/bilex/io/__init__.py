"""Reading and writing tables of word vectors, one module per format; nothing here needs more than numpy to import."""
