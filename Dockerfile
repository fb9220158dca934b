# gitleaks-eval with a scanner inside, for a user that is not root:
#   docker build -t gitleaks-eval . && docker run --rm -v "$PWD:/work:ro" gitleaks-eval --output=/tmp/results
FROM python:3.13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python -m pip install --no-cache-dir /source && rm -rf /source
RUN useradd --create-home --uid 10001 gitleaks-eval
USER 10001
ENV HOME=/home/gitleaks-eval PYTHONDONTWRITEBYTECODE=1 PYTEST_ADDOPTS="-p no:cacheprovider"
RUN python -c "from gitleaks_eval.scanners.install import installed_binary as got; got('8.30.1', print)"
WORKDIR /work
ENTRYPOINT ["gitleaks-eval"]
