"""The reference of the commands describes each option once."""

from evaluation_assets_tests.generated_pages.commands import page

PAGE = page()


def of(command: str) -> str:
    return PAGE.partition(f"# {command}\n")[2].partition("\n#")[0]


def test_options_of_evaluate_are_described_with_it_and_named_elsewhere() -> None:
    assert "--provider TEXT " in of("evaluate")
    assert "--provider TEXT " not in of("plan")
    assert "`--provider TEXT`" in of("plan").splitlines()[-1]


def test_an_option_that_means_something_else_is_described() -> None:
    assert "  --since DURATION" in of("plan")
    assert "--since DURATION" not in of("import").partition("```text")[2].partition("```")[0]


def test_the_format_of_the_output_is_described_once() -> None:
    assert PAGE.partition("## evaluation-assets\n")[0].count("--format [text|json]") == 1
    assert [line for line in PAGE.splitlines() if line.startswith("  --format [text|json]")] == []
    assert "`--format [text|json]`" in of("groups list")


def test_a_group_leaves_its_commands_to_their_sections() -> None:
    assert "Commands:" not in of("panel")
    assert "--dry-run" in of("panel attack")
