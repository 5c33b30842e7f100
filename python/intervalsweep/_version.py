"""The one place that holds the version; build.sbt and pyproject.toml read it from here."""

__version__ = "0.1.0"
