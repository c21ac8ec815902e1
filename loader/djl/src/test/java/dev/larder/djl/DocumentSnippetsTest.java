package dev.larder.djl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.JavaSnippet;
import dev.larder.testing.MarkdownDocument;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles what the documents show of this module. */
class DocumentSnippetsTest {
    private static final String IMPORTS =
            "import ai.djl.training.*; import dev.larder.djl.*; import dev.larder.loader.*;"
                    + " import dev.larder.loader.transform.*; ";

    @TempDir
    Path folder;

    @Test
    void snippetsOfThisModuleCompile() throws Exception {
        List<JavaSnippet> snippets =
                MarkdownDocument.blocksOf(Path.of("../..").toAbsolutePath().normalize(), "loader/djl").stream()
                        .map(block -> JavaSnippet.of(block, Surroundings.class.getName()))
                        .toList();

        assertThat(snippets).isNotEmpty();
        assertThat(JavaSnippet.compile(snippets, IMPORTS, folder)).isEmpty();
    }
}
