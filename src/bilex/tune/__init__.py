"""A search over the settings of a method, decided on dev words (`bilex tune`)."""
