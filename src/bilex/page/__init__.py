"""What pages of any report are made of: tables, charts, and the page around them, which needs nothing else."""
