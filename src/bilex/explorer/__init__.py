"""A local web page to browse an alignment and to correct its lexicon. Needs the extra `explore`."""
