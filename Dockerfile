# Two images: `docker build --target slim .` suggests, `--target full` learns as well. Its torch comes from the index that is named,
# and from no other: docker build --target full --build-arg TORCH_INDEX=https://download.pytorch.org/whl/cpu .
#
#   docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" jpo suggest config.ini
#
# Compilers, pip and the sources stay in the stages that use them; what runs is one virtual environment, as a user without a name.
# The digest is that of the index of all architectures; `docker buildx imagetools inspect python:3.11.14-slim-bookworm` shows it.

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS wheel
WORKDIR /src
COPY requirements/lock-build.txt requirements/
RUN python -I -m pip install --quiet --no-cache-dir --require-hashes -r requirements/lock-build.txt
COPY pyproject.toml README.md LICENSE ./
COPY constraints constraints
COPY jpo jpo
COPY pipelines pipelines
RUN python -I -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS slim-environment
RUN python -I -m venv --without-pip /opt/jpo
COPY requirements/lock.txt /requirements/
RUN python -I -m pip --python /opt/jpo install --quiet --no-cache-dir --require-hashes -r /requirements/lock.txt
COPY --from=wheel /wheels /wheels
RUN python -I -m pip --python /opt/jpo install --quiet --no-cache-dir --no-deps --no-index /wheels/jpo-*.whl

# Learning needs a CPU only: PyTorch's build for CPUs, of which the lock has the hashes; what it needs comes before, from PyPI.
FROM slim-environment AS full-environment
ARG TORCH_INDEX
COPY requirements/lock-learn.txt requirements/lock-torch.txt /requirements/
RUN python -I -m pip --python /opt/jpo install --quiet --no-cache-dir --require-hashes -r /requirements/lock-learn.txt
RUN python -I -m pip --python /opt/jpo install --quiet --no-cache-dir --require-hashes --no-deps \
    --index-url "${TORCH_INDEX:?name the index of CPU builds}" -r /requirements/lock-torch.txt

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS runtime
RUN python -I -m pip uninstall --quiet --yes setuptools wheel pip && install --directory --owner=10001 --group=10001 /work
LABEL org.opencontainers.image.title="JPO" org.opencontainers.image.version="0.1.0" org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.description="Job Parameter Optimizer: a CI step that tunes a training job's config.ini from its earlier runs"
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
