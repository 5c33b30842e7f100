# An environment in which `make demo` and `make test` run. Nobody publishes this image; build it:
#   docker build -t intervalsweep . && docker run --rm intervalsweep
FROM python:3.12-bookworm

RUN apt-get update \
  && apt-get install -y --no-install-recommends git make maven openjdk-17-jdk-headless \
  && rm -rf /var/lib/apt/lists/*

# Spark needs a user with a name.
RUN useradd --create-home --shell /bin/bash sweep
USER sweep
WORKDIR /home/sweep/intervalsweep
COPY --chown=sweep:sweep . .
RUN make build

CMD ["make", "demo"]
