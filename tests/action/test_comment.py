"""The comment, on a stand-in for GitHub that holds requests to GitHub's own description."""

import threading

import github_standin as standin
import pytest
from github_standin import BOT, READS, WRITES

from memregress.github import commenting
from memregress.github.api import Api, ApiError
from memregress.github.commenting import Act, Marker, State

PR = 412


@pytest.fixture
def github():
    with standin.running() as running:
        yield running
        assert running.violations == []


def api(github, token=WRITES):
    waits = []
    made = Api(github.url, token, "org/app", graphql_url=github.graphql_url, sleep=waits.append)
    made.waits = waits
    return made


def marker(state=State.RED, run=10, attempt=1, key="default", head="9c1f0be"):
    return Marker(key=key, run=run, attempt=attempt, head=head, state=state)


def publish(github, now, *, mode="auto", token=WRITES, number=PR, text="text"):
    used = api(github, token)
    url = commenting.publish(used, number, now, lambda history: f"{text} {history}".rstrip(), mode)
    return url, used


def states(github, number=PR):
    return [found.state for body in github.bodies(number) if (found := Marker.read(body))]


def test_green_and_never_red_is_silent(github):
    """No comment while nothing broke."""
    assert publish(github, marker(State.GREEN))[0] == ""
    assert github.bodies(PR) == []


def test_always(github):
    """Unless every run is to be told of."""
    assert publish(github, marker(State.GREEN), mode="always")[0]
    assert states(github) == [State.GREEN]


def test_never(github):
    """`never` does not even ask."""
    assert publish(github, marker(), mode="never")[0] == ""
    assert github.requests == []


def test_red_then_red_edits_in_place(github):
    """A comment that stays red is edited, and says since when."""
    first, _ = publish(github, marker(run=1, head="aaaaaaa1"))
    second, _ = publish(github, marker(run=2, head="bbbbbbb2"))
    assert first == second
    (body,) = github.bodies(PR)
    assert body.endswith("text broken since aaaaaaa, 2 runs")


def test_red_then_green_then_red(github):
    """Green edits the red comment; red again writes a new one, so that people are notified, before the old one goes."""
    red, _ = publish(github, marker(run=1))
    green, _ = publish(github, marker(State.GREEN, run=2))
    assert (red, states(github)) == (green, [State.GREEN])
    again, _ = publish(github, marker(run=3))
    assert again != red
    assert states(github) == [State.RED]
    writes = [call for call in github.calls if not call.startswith("GET") and "graphql" not in call]
    assert [call.split()[0] for call in writes[-2:]] == ["POST", "DELETE"]


def test_a_delete_that_fails_leaves_one_too_many(github):
    """Never none."""
    publish(github, marker(State.GREEN, run=1), mode="always")
    github.fail_first("DELETE", "comments", 403, "Resource not accessible by integration")
    with pytest.raises(ApiError):
        publish(github, marker(run=2))
    assert states(github) == [State.GREEN, State.RED]
    publish(github, marker(run=3))
    assert states(github) == [State.RED]


def test_a_late_older_run_overwrites_nothing(github):
    """A run that ends after a newer one leaves its comment alone; a newer attempt of a run does not."""
    publish(github, marker(run=20, attempt=2), text="newer")
    publish(github, marker(State.GREEN, run=19, attempt=9), text="late")
    publish(github, marker(State.GREEN, run=20, attempt=1), text="late")
    assert "newer" in github.bodies(PR)[0]
    publish(github, marker(State.GREEN, run=20, attempt=3), text="newest")
    assert "newest" in github.bodies(PR)[0]


def test_found_among_250_comments_in_six_calls(github):
    """Ours is found on whichever page it is, within six calls; strangers' comments stay as they are."""
    for number in range(250):
        github.comment(PR, f"comment {number}\n{marker()}" if number % 7 else str(marker()), author="stranger")
        if number == 237:
            github.comment(PR, f"{marker(State.GREEN, run=1)}\nours", author=BOT)
    github.comment(413, f"{marker(State.GREEN, run=1)}\nanother pull request's", author=BOT)
    before = [body for body in github.bodies(PR) if "ours" not in body]
    _, used = publish(github, marker(run=2))
    assert used.calls <= 6
    assert len(github.bodies(PR)) == 251
    assert github.bodies(PR)[:-1] == before
    assert github.bodies(PR)[-1].endswith("text")


@pytest.mark.parametrize(
    "body",
    [
        f" {marker()}",
        f"quoted:\n{marker()}",
        f"> {marker()}",
        str(marker()).replace("v1", "v2"),
        f"{marker()} -->",
        f"{marker(key='other')}",
        str(marker()).replace("state=red", "state=purple"),
        str(marker()).replace("run=10", "run=ten"),
        "",
    ],
)
def test_what_is_no_marker(github, body):
    """Only a whole first line counts, with our key; anything else is not ours, even where we wrote it."""
    github.comment(PR, body, author=BOT)
    publish(github, marker(run=30))
    assert len(github.bodies(PR)) == 2


@pytest.mark.parametrize("value", ["--> <script>", "a b", "x\n<!-- y -->", "-", "ü%", ""])
def test_a_marker_holds_anything(value):
    """Whatever its values hold, it is one line, ends once, and reads back."""
    made = marker(key=value, head=value)
    assert "\n" not in str(made)
    assert str(made).count("-->") == 1
    assert Marker.read(f"{made}\nbody") == made


def test_a_fork_is_told(github):
    """A token that may only read is an error with the permissions to give, and nothing is written."""
    with pytest.raises(ApiError) as caught:
        publish(github, marker(), token=READS)
    assert caught.value.status == 403
    assert "pull-requests: write" in caught.value.remedy
    assert github.bodies(PR) == []


@pytest.mark.parametrize(("number", "status"), [(404, 404), (PR, 401)])
def test_refusals(github, number, status):
    """A wrong number and a wrong token: one call that is not repeated, an error in words."""
    token = "wrong" if status == 401 else WRITES
    with pytest.raises(ApiError) as caught:
        publish(github, marker(), number=number, token=token)
    assert caught.value.status == status
    assert str(status) in caught.value.message
    assert caught.value.remedy
    assert "?" not in caught.value.message.split(": ")[0]


def test_a_body_that_is_too_long(github):
    """GitHub's 422 is passed on in words."""
    with pytest.raises(ApiError, match="maximum is 65536"):
        publish(github, marker(), text="x" * 70_000)


def test_secondary_rate_limit(github):
    """Retry-After is honoured, and the comment is written once."""
    github.fail_first("POST", "comments", 403, "You have exceeded a secondary rate limit", **{"Retry-After": "7"})
    github.fail_first("GET", "comments", 429, "too many", **{"Retry-After": "3"})
    _, used = publish(github, marker())
    assert used.waits == [3.0, 7.0]
    assert len(github.bodies(PR)) == 1


def test_a_limit_of_an_hour_is_not_waited_for(github):
    """A job's minutes are worth more than a comment."""
    github.fail_first("GET", "comments", 403, "API rate limit exceeded", **{"Retry-After": "3600"})
    used = api(github)
    with pytest.raises(ApiError, match="rate limit"):
        commenting.publish(used, PR, marker(), str, "auto")
    assert used.waits == []


def test_a_lost_answer_is_asked_for_again_but_never_written_twice(github):
    """A failing server is asked again; a comment whose writing failed is not written again: it may be there."""
    github.fail_first("GET", "comments", 502, "bad gateway")
    github.fail_first("POST", "issues/412/comments", 502, "bad gateway")
    with pytest.raises(ApiError, match="502"):
        publish(github, marker())
    assert [call for call in github.calls if call.startswith("POST")] == ["POST /issues/412/comments"]


def test_nobody_answers():
    """A closed port is an error in words."""
    made = Api("http://127.0.0.1:9", WRITES, "org/app", graphql_url="http://127.0.0.1:9/graphql", sleep=lambda _: None)
    with pytest.raises(ApiError, match="GitHub does not answer") as caught:
        commenting.publish(made, PR, marker(), str, "auto")
    assert caught.value.status == 0


@pytest.mark.parametrize("graphql", [True, False])
def test_enterprise(graphql):
    """The addresses are the runner's, prefix and all; an old server without GraphQL does too."""
    with standin.running(prefix="/api/v3", graphql=graphql) as github:
        publish(github, marker(run=1))
        publish(github, marker(State.GREEN, run=2))
        assert states(github) == [State.GREEN]
        assert all(path.startswith("/api/") for _, path in github.requests)
        assert github.violations == []


def test_two_runs_at_once(github):
    """Two runs that both found nothing leave one comment, the newer run's, and not none."""
    barrier = threading.Barrier(2)
    github.before["POST"] = lambda path: "graphql" in path or barrier.wait(10)
    failures = []

    def run(number):
        try:
            publish(github, marker(run=number))
        except Exception as error:  # noqa: BLE001  a thread's failure is the test's
            failures.append(error)

    runs = [threading.Thread(target=run, args=(number,)) for number in (1, 2)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join(30)
    assert failures == []
    (body,) = github.bodies(PR)
    assert Marker.read(body).run == 2


@pytest.mark.parametrize(
    ("before", "now", "mode", "act"),
    [
        (None, State.GREEN, "auto", Act.NOTHING),
        (None, State.WARN, "auto", Act.CREATE),
        (None, State.RED, "auto", Act.CREATE),
        (None, State.GREEN, "always", Act.CREATE),
        (State.GREEN, State.RED, "auto", Act.RECREATE),
        (State.WARN, State.RED, "auto", Act.RECREATE),
        (State.RED, State.RED, "auto", Act.EDIT),
        (State.RED, State.GREEN, "auto", Act.EDIT),
        (State.GREEN, State.GREEN, "auto", Act.EDIT),
        (State.RED, State.GREEN, "never", Act.NOTHING),
    ],
)
def test_life_cycle(before, now, mode, act):
    """Every change of state."""
    there = None if before is None else marker(before, run=1)
    assert commenting.decide(there, marker(now, run=2), mode) is act
