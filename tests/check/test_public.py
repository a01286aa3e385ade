"""The public interface of the package."""

from __future__ import annotations

import doctest

import pytest

import torchlayout


def test_every_public_name_exists() -> None:
    for name in torchlayout.__all__:
        assert getattr(torchlayout, name) is not None
    assert set(torchlayout.__all__) <= set(dir(torchlayout))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        torchlayout.nothing  # noqa: B018


def test_check_stays_the_function_when_its_package_is_imported() -> None:
    import torchlayout.check.engine
    from torchlayout import check

    assert check("x = 1") == torchlayout.check("x = 1") == torchlayout.check.engine.check("x = 1") == []


def test_the_example_of_the_docstring() -> None:
    results = doctest.testmod(torchlayout)
    assert results.attempted >= 3
    assert results.failed == 0
