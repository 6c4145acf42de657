"""The course on a JupyterHub: the page hub/README.md, carried out."""
