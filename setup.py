"""What pyproject.toml cannot say: an editable install has JupyterLab's buttons too.

Before it puts data files into an editable install, setuptools asks a distribution for
``has_data``, and distributions lack that name. Of the data files it is given the
buttons alone: the lessons are the clone's own.
"""

from setuptools import Distribution, setup

BUTTONS = "share/jupyter/labextensions"


class WithButtons(Distribution):
    """The distribution, as an editable install should see it."""

    def has_data(self) -> bool:
        """Keep the buttons of the data files; return whether there are any."""
        files = self.data_files or []
        files[:] = [each for each in files if each[0].startswith(BUTTONS)]
        return bool(files)


setup(distclass=WithButtons)
