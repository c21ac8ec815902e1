package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.testing.JavaSnippet;
import dev.larder.testing.MarkdownDocument;
import dev.larder.testing.MarkdownDocument.Block;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether the tests of documents notice what is wrong, and say where. */
class BrokenDocumentTest {
    @TempDir
    Path folder;

    private DocumentShell shell;

    @BeforeEach
    void prepare() throws Exception {
        shell = new DocumentShell(folder);
    }

    private static Block block(String... lines) {
        return MarkdownDocument.of(Path.of(""), "X.md", List.of(lines)).blocks().get(0);
    }

    private List<String> run(String... lines) throws Exception {
        return shell.run(block(lines), folder.resolve("store"));
    }

    @Test
    void aCommandThatFailsIsNamedWithItsLineItsCodeAndItsOutput() throws Exception {
        List<String> failures = run("```sh", "true", "echo said; exit_with() { return 4; }; exit_with", "true", "```");

        assertThat(failures)
                .singleElement()
                .asString()
                .startsWith("X.md:3: exit code 4")
                .contains("    said");
    }

    @Test
    void aCommandThatDoesNotFailAsItIsSaidToIsFound() throws Exception {
        assertThat(run("```sh", "true   # exit 3", "```"))
                .singleElement()
                .asString()
                .startsWith("X.md:2: exit code 0");
        assertThat(run("```sh", "(exit 3)   # exit 3", "```")).isEmpty();
    }

    @Test
    void aScriptThatFailsIsFound() throws Exception {
        assertThat(run("```bash", "#!/bin/sh", "exit 1", "```")).hasSize(1);
        assertThat(run("```bash", "#!/bin/sh", "exit 0", "```")).isEmpty();
    }

    @Test
    void whatOnlyRootMayDoIsNeverRun() throws Exception {
        assertThat(run("```sh", "mkdir x && mount -t tmpfs none x", "```")).hasSize(1);
        assertThat(folder.resolve("work/x")).doesNotExist();
    }

    @Test
    void whatIsNoBashIsFound() {
        assertThatThrownBy(() -> run("```sh", "true", "if true; then", "```")).hasMessageContaining("X.md:3");
    }

    @Test
    void aSnippetThatDoesNotCompileIsFoundWithItsLine() throws Exception {
        Block block = block("```java", "", "larder.datasets(\"mnist\");", "```");
        JavaSnippet snippet = JavaSnippet.of(block, Surroundings.class.getName());

        assertThat(JavaSnippet.compile(List.of(snippet), "", folder)).containsExactly("X.md:3: cannot find symbol");
    }

    @Tag("slow")
    @Test
    void aBlockWithoutAnEndIsFound() {
        assertThatThrownBy(() -> block("```sh", "true")).hasMessageContaining("X.md:1");
    }

    @Test
    void aCommandOrOptionThatIsNotThereIsFound() {
        assertThat(CommandWords.complaints("ops/larder fetch x=y")).containsExactly("no such command: fetch");
        assertThat(CommandWords.complaints("larder load x=y --pinned")).containsExactly("no such option: --pinned");
        assertThat(CommandWords.complaints("larder run --hold x -- program --pinned"))
                .isEmpty();
        assertThat(CommandWords.unknownOption("--pinned")).isNotEmpty();
        assertThat(CommandWords.unknownOption("--pin")).isEmpty();
    }
}
