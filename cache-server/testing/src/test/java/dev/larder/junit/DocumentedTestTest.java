package dev.larder.junit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.testing.JavaSnippet;
import dev.larder.testing.MarkdownDocument;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles the tests that the documents show. */
class DocumentedTestTest {
    @TempDir
    Path folder;

    @Test
    void testsInDocumentsCompile() throws Exception {
        List<JavaSnippet> snippets =
                MarkdownDocument.blocksOf(Path.of("../..").toAbsolutePath().normalize(), "cache-server/testing")
                        .stream()
                        .map(block -> JavaSnippet.of(block, Object.class.getName()))
                        .toList();

        assertThat(snippets).isNotEmpty();
        assertThat(JavaSnippet.compile(snippets, "", folder)).isEmpty();
    }
}
