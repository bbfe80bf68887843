"""A local web page to look into an alignment and to correct its lexicon. Needs the extra `explore`."""
