"""What `docs/generate.py` writes: one module a question, each a pure function from the program to Markdown."""
