"""A search over the settings of a method, compared on dev words (`bilex tune`)."""
