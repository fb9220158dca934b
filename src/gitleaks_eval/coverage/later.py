"""What a survey, or a question about entries, needs: a run that asks none of this loads none of it."""

from typing import TYPE_CHECKING

from gitleaks_eval.core.later import loaded_later

if TYPE_CHECKING:
    from gitleaks_eval.coverage import (
        accepting,
        against,
        asker,
        entries,
        explained_text,
        explaining,
        firing,
        flags,
        forms_survey,
        hiding_entries,
        layers,
        own_tests,
        places,
        places_hiding,
        places_survey,
        samples,
        separating,
        silencing,
        standing,
        subject,
        verdict,
    )

    __all__ = [
        "accepting",
        "against",
        "asker",
        "entries",
        "explained_text",
        "explaining",
        "firing",
        "flags",
        "forms_survey",
        "hiding_entries",
        "layers",
        "own_tests",
        "places",
        "places_hiding",
        "places_survey",
        "samples",
        "separating",
        "silencing",
        "standing",
        "subject",
        "verdict",
    ]
else:
    __getattr__ = loaded_later(
        "gitleaks_eval.coverage.accepting",
        "gitleaks_eval.coverage.asker",
        "gitleaks_eval.coverage.against",
        "gitleaks_eval.coverage.entries",
        "gitleaks_eval.coverage.explained_text",
        "gitleaks_eval.coverage.explaining",
        "gitleaks_eval.coverage.firing",
        "gitleaks_eval.coverage.flags",
        "gitleaks_eval.coverage.forms_survey",
        "gitleaks_eval.coverage.hiding_entries",
        "gitleaks_eval.coverage.layers",
        "gitleaks_eval.coverage.own_tests",
        "gitleaks_eval.coverage.places",
        "gitleaks_eval.coverage.places_hiding",
        "gitleaks_eval.coverage.places_survey",
        "gitleaks_eval.coverage.samples",
        "gitleaks_eval.coverage.separating",
        "gitleaks_eval.coverage.silencing",
        "gitleaks_eval.coverage.standing",
        "gitleaks_eval.coverage.subject",
        "gitleaks_eval.coverage.verdict",
    )
