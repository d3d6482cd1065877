"""Files under one folder: read and written there, and nowhere else."""

import os
import threading
from pathlib import Path

import pytest

from lionstudio.domain.errors import DatabaseFull, InvalidContent, Unavailable
from lionstudio.services.confined_files import locate, read_within, write_within


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "inside").mkdir(parents=True)
    (folder / "inside" / "page.md").write_text("within")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "page.md").write_text("the secret")
    return folder


def test_what_is_under_the_root_is_read(root: Path) -> None:
    assert read_within(str(root), str(root / "inside" / "page.md")) == "within"


def test_a_link_that_stays_under_the_root_is_followed(root: Path) -> None:
    (root / "link").symlink_to(root / "inside")
    assert read_within(str(root), str(root / "link" / "page.md")) == "within"


def test_a_root_that_is_a_link_itself_is_a_root(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert read_within(str(tmp_path / "alias"), str(tmp_path / "alias" / "inside" / "page.md")) == "within"


@pytest.mark.parametrize("path", ["../outside/page.md", "inside/../../outside/page.md", "out/page.md", "page"])
def test_what_leads_out_is_refused(root: Path, path: str) -> None:
    (root / "out").symlink_to(root.parent / "outside")
    (root / "page").symlink_to("../outside/page.md")
    with pytest.raises(InvalidContent, match="leads out of"):
        read_within(str(root), str(root / path))


def test_a_folder_whose_name_begins_like_the_root_is_outside(root: Path) -> None:
    (root.parent / "root-2").mkdir()
    with pytest.raises(InvalidContent, match="leads out of"):
        locate(str(root), str(root.parent / "root-2"))


@pytest.mark.parametrize("path", ["gone", "gone/page.md", "inside/page.md/x", "nul\0", "half \ud800"])
def test_what_is_not_there_is_nothing(root: Path, path: str) -> None:
    assert read_within(str(root), str(root) + "/" + path) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [("x" * 300, "too long"), ("loop", "in circles"), ("dangling", "nowhere"), ("inside", "not a file")],
)
def test_why_something_cannot_be_read_is_said(root: Path, name: str, why: str) -> None:
    (root / "loop").symlink_to(root / "loop")
    (root / "dangling").symlink_to(root / "gone")
    with pytest.raises(InvalidContent, match=why):
        read_within(str(root), str(root / name))


def test_a_link_that_is_put_in_place_meanwhile_gains_nothing(root: Path) -> None:
    """A folder is swapped for a link to a secret, over and over, while it is read."""
    stop = threading.Event()
    swapped = root / "swapped"

    def swap() -> None:
        while not stop.is_set():
            swapped.mkdir()
            (swapped / "page.md").write_text("within")
            (swapped / "page.md").unlink()
            swapped.rmdir()
            swapped.symlink_to(root.parent / "outside")
            swapped.unlink()

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(3_000):
            try:
                seen.add(read_within(str(root), str(swapped / "page.md")))
            except InvalidContent:
                continue
    finally:
        stop.set()
        thread.join()
    assert "the secret" not in seen


def test_files_are_written_and_overwritten_whole(root: Path) -> None:
    write_within(str(root), str(root / "inside"), {"page.md": "new", "other.md": "more"})
    assert sorted(os.listdir(root / "inside")) == ["other.md", "page.md"]
    assert [(root / "inside" / name).read_text() for name in ("page.md", "other.md")] == ["new", "more"]


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(root: Path) -> None:
    (root / "inside" / "page.md").unlink()
    (root / "inside" / "page.md").symlink_to(root.parent / "outside" / "page.md")
    write_within(str(root), str(root / "inside"), {"page.md": "new"})
    assert (root / "inside" / "page.md").read_text() == "new"
    assert (root.parent / "outside" / "page.md").read_text() == "the secret"


def test_nothing_is_written_outside(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside")
    with pytest.raises(Unavailable, match="leads out of"):
        write_within(str(root), str(root / "out"), {"page.md": "new"})
    assert (root.parent / "outside" / "page.md").read_text() == "the secret"


def test_a_folder_that_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(Unavailable, match="gone"):
        write_within(str(root), str(root / "gone"), {"page.md": "new"})


def test_a_full_disk_leaves_the_file_as_it_was(small_disk: Path) -> None:
    (small_disk / "page.md").write_text("old")
    with pytest.raises(DatabaseFull, match="nothing was changed"):
        write_within(str(small_disk), str(small_disk), {"page.md": "x" * 4_000_000})
    assert os.listdir(small_disk) == ["page.md"]
    assert (small_disk / "page.md").read_text() == "old"
