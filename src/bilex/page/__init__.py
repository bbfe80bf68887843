"""Building blocks of reports: tables, charts, and self-contained HTML pages."""
