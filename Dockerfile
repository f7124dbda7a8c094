# Two images: `docker build --target slim .` suggests, `docker build --target full .` learns as well (torch).
#
#   docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" jpo suggest config.ini
#
# Compilers, pip and the sources stay in the stages that use them; what runs is one virtual environment, as a user without a name.

FROM python:3.11.14-slim-bookworm AS wheel
WORKDIR /src
COPY requirements/lock-build.txt requirements/
RUN python -m pip install --quiet --no-cache-dir --require-hashes -r requirements/lock-build.txt
COPY pyproject.toml README.md LICENSE ./
COPY constraints constraints
COPY jpo jpo
RUN python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11.14-slim-bookworm AS slim-environment
RUN python -m venv --without-pip /opt/jpo
COPY requirements/lock.txt /requirements/
RUN python -m pip --python /opt/jpo install --quiet --no-cache-dir --require-hashes -r /requirements/lock.txt
COPY --from=wheel /wheels /wheels
RUN python -m pip --python /opt/jpo install --quiet --no-cache-dir --no-deps --no-index /wheels/jpo-*.whl

# torch in the version of the lock. PyPI's build is for GPUs, several gigabytes; learning needs a CPU only, so name PyTorch's index
# of CPU builds: docker build --target full --build-arg PIP_EXTRA_INDEX_URL=...
FROM slim-environment AS full-environment
ARG PIP_EXTRA_INDEX_URL=""
COPY requirements/lock-dev.txt /requirements/
RUN python -m pip --python /opt/jpo install --quiet --no-cache-dir --constraint /requirements/lock-dev.txt torch

FROM python:3.11.14-slim-bookworm AS runtime
RUN python -m pip uninstall --quiet --yes setuptools wheel pip && install --directory --owner=10001 --group=10001 /work
ENV PATH=/opt/jpo/bin:$PATH HOME=/tmp PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /work
USER 10001:10001
ENTRYPOINT ["jpo"]
CMD ["--help"]

FROM runtime AS full
COPY --from=full-environment /opt/jpo /opt/jpo
USER 10001:10001

# Last, so that it is what a build without --target makes.
FROM runtime AS slim
COPY --from=slim-environment /opt/jpo /opt/jpo
USER 10001:10001
