"""A repository as a company has it: 215 secrets of 22 kinds in 43 paths, one to eight folders deep.

It has merges, side branches, tags, deleted and renamed files, five authors and eleven years. All values are made.
"""

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from builders import git
from histories import fast_import, inline

from gitleaks_eval.scenarios.pattern import generate
from gitleaks_eval.scenarios.secrets import secret_kinds

# The name that a value has in a file, and its pattern.
KINDS = {
    "github_token": "ghp_[a-zA-Z0-9]{36}",
    "GITHUB_OAUTH": "gho_[a-zA-Z0-9]{36}",
    "aws_access_key_id": "AKIA[A-Z2-7]{16}",
    "stripe_key": "sk_live_[a-zA-Z0-9]{24}",
    "slackBotToken": "xoxb-[1-9][0-9]{10}-[1-9][0-9]{11}-[a-zA-Z0-9]{24}",
    "gitlab_token": "glpat-[a-zA-Z0-9]{20}",
    "npm_token": "npm_[a-z0-9]{36}",
    "SENDGRID_KEY": "SG\\.[a-z0-9]{66}",
    "digitalocean_token": "dop_v1_[a-f0-9]{64}",
    "huggingface_token": "hf_[a-zA-Z]{34}",
    "gcp_api_key": "AIza[a-zA-Z0-9]{35}",
    "shopify_token": "shpat_[a-f0-9]{32}",
    "linear_key": "lin_api_[a-z0-9]{40}",
    "postman_key": "PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    "databricks_token": "dapi[a-f0-9]{32}",
    "newrelic_key": "NRAK-[a-z0-9]{27}",
    "pulumi_token": "pul-[a-f0-9]{40}",
    "doppler_token": "dp\\.pt\\.[a-z0-9]{43}",
    "planetscale_token": "pscale_tkn_[a-zA-Z0-9]{40}",
    "grafana_token": "glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}",
    "db_password": "([b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ][0-9]){14}",
    "tls": secret_kinds()["private-key"].pattern,
}
PATHS = """\
.env
Makefile
settings.py
.github/workflows/release.yml
config/production.yml
deploy/k8s/payments/secret.yaml
deploy/helm/shop/values-prod.yaml
infra/terraform/prod.tfvars
infra/terraform/modules/db/main.tf
infra/ansible/group_vars/all.yml
services/payments/src/main/java/com/acme/payments/Config.java
services/payments/src/main/resources/application.properties
services/payments/src/test/java/com/acme/payments/ConfigTest.java
services/orders/cmd/server/main.go
services/orders/internal/config/config.go
services/search/app/settings.py
services/search/tests/test_client.py
services/mail/config/initializers/mail.rb
services/billing/app/Http/Clients/Stripe.php
services/risk/src/lib.rs
apps/web/src/api/client.ts
apps/web/src/features/checkout/components/payment/config/keys.ts
apps/web/.env.production
apps/admin/src/store/index.js
apps/ios/Shop/Sources/Api/Client.swift
apps/android/src/main/java/com/acme/shop/Api.kt
apps/android/gradle.properties
packages/client/lib/index.js
packages/client/README.md
docs/runbooks/on-call.md
docs/api/examples/curl.md
scripts/backup.sh
scripts/release/publish.sh
tools/migrate/config.json
tests/fixtures/responses/token.json
tests/integration/test_login.py
data/seed/users.sql
notebooks/churn.ipynb
legacy/www/inc/config.php
legacy/cron/jobs/nightly.pl
certs/internal/api.txt
ci/jenkins/Jenkinsfile
platform/tenants/eu/shop/prod/eu-west-1/cluster/values.yaml
""".split()
AT_EACH = 5
DELETED = PATHS[10::7]
ON_BRANCHES = PATHS[5::9]
AUTHORS = (
    "Ada Byron <ada@acme.test>",
    "Bo Li <bo@acme.test>",
    "Cy Ott <cy@contractor.test>",
    "Jürgen Groß <jg@acme.test>",
    "build <ci@example.com>",
)
# How a line is written, by how the name of its file ends.
LINES = {
    ("ts", "js"): (
        'const {name} = "{value}";',
        "  headers: {{ Authorization: `{name} = {value}` }},",
        "// {name} = '{value}'",
    ),
    ("java", "kt", "swift"): (
        '    private static final String {name} = "{value}";',
        '\tclient.set("{name}", "{value}");',
    ),
    ("go", "rs"): ('const {name} = "{value}"', '\t{name} := "{value}"'),
    ("py", "rb", "pl", "php"): ('{name} = "{value}"', '    {name} = "{value}"', "# {name} = '{value}'"),
    ("yml", "yaml"): ("{name}: {value}", '  {name}: "{value}"'),
    ("json", "ipynb"): ('  "{name}": "{value}",', '{{"{name}": "{value}"}}'),
    ("sh", "md"): ('export {name}="{value}"', 'curl -H "{name}: {value}" https://api.acme.test/'),
    ("sql",): ("INSERT INTO settings VALUES ('{name}', '{value}'); -- {name} = '{value}'",),
    ("",): ("{name}={value}", '{name} = "{value}"'),
}  # fmt: skip


def secrets() -> dict[str, str]:
    """Each value that is planted, and its path."""
    return {value: path for path, lines in _planted() for value, _ in lines}


def company(folder: Path) -> Path:
    """Write the repository into a folder; return its path."""
    repository = folder / "company"
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    fast_import(repository, "".join(_stream()))
    git(repository, "config", "remote.origin.url", "https://git.acme.test/shop.git")
    return repository


def _planted() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each path, and its lines, each beside the value in it."""
    kinds = cycle(KINDS.items())
    for path in PATHS:
        forms = cycle(next(forms for ends, forms in LINES.items() if path.endswith(ends)))
        of_path = []
        for number, (name, pattern) in enumerate(islice(kinds, AT_EACH)):
            value = generate(pattern, f"company {path} {number}")
            line = value if "\n" in value else next(forms).format(name=name, value=value)
            of_path.append((value, line))
        yield path, of_path


def _text(path: str, lines: list[str]) -> str:
    """A file in which something else stands between secrets: the last of them beyond line 60."""
    body: list[str] = [f"{path}: made for a test"]
    for number, line in enumerate(lines):
        body += [line, *(f"  row {number}.{row} is plain text" for row in range(16))]
    return "\n".join(body) + "\n"


def _stream() -> Iterator[str]:
    """What `git fast-import` reads."""
    mark = 0

    def commit(ref: str, change: str, year: int, parents: list[int]) -> str:
        nonlocal mark
        mark += 1
        who = f"{AUTHORS[mark % len(AUTHORS)]} {(year - 1970) * 31_557_600 + mark * 3_600} +0000"
        message = f"Change {mark}"
        origin = "".join(f"{'merge' if index else 'from'} :{parent}\n" for index, parent in enumerate(parents))
        head = f"commit {ref}\nmark :{mark}\nauthor {who}\ncommitter {who}\ndata {len(message)}\n{message}\n"
        return f"{head}{origin}{change}\n"

    yield commit("refs/heads/main", inline("README", "A shop.\n"), 2014, [])
    main, tips = 1, []
    for index, (path, lines) in enumerate(_planted()):
        change = inline(path, _text(path, [line for _, line in lines]))
        year = 2014 + index * 12 // len(PATHS)
        if path in ON_BRANCHES:
            yield commit(f"refs/heads/feature/{index}", change, year, [main])
            tips.append(mark)
            continue
        if index % 6 == 5:
            # Two lines of work, and a merge of both.
            yield commit("refs/heads/work", change, year, [main])
            yield commit("refs/heads/main", inline("README", f"A shop, {index}.\n"), year, [main])
            side, here = mark - 1, mark
            yield commit("refs/heads/main", "", year, [here, side])
        else:
            yield commit("refs/heads/main", change, year, [main])
        main = mark
        if path in DELETED:
            yield commit("refs/heads/main", f"D {path}\n", year, [main])
            main = mark
    yield f"reset refs/heads/work\nfrom :{main}\n\n"
    yield f"reset refs/tags/v1\nfrom :{tips.pop()}\n\n"
