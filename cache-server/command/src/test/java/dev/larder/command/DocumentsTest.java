package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Epoch;
import dev.larder.loader.Loader;
import dev.larder.loader.fanout.BatchPublisher;
import dev.larder.testing.FashionMnist;
import dev.larder.testing.JavaSnippet;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.MarkdownDocument;
import dev.larder.testing.MarkdownDocument.Block;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs every command and every snippet of README and {@code ops/docs}, but for those whose fence says why not.
 *
 * <p>Commands run in a folder with the files that the documents name, on a daemon that has {@code mnist}; a block that serves by
 * itself gets a store of its own, and so do those after it in the same document.
 */
class DocumentsTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final String README = "README.md";
    private static final Set<String> SHELL = Set.of("sh", "bash", "console");

    /** What the snippets of Java leave out. */
    private static final String IMPORTS = """
            import dev.larder.client.*; import dev.larder.distributed.*; import dev.larder.launch.process.*;
            import dev.larder.distributed.queue.*; import dev.larder.distributed.region.*; import dev.larder.distributed.shared.*;
            import dev.larder.distributed.rendezvous.*; import dev.larder.loader.*; import dev.larder.loader.device.*;
            import dev.larder.loader.internal.device.fake.*; import dev.larder.loader.fanout.*; import dev.larder.loader.opencl.*;
            import dev.larder.loader.sample.*; import dev.larder.loader.transform.*; import dev.larder.npy.Dtype; import dev.larder.rows.*;
            import java.nio.ByteBuffer; import java.nio.file.Path; import java.time.Duration; import java.util.List;
            import org.agrona.*; import org.agrona.concurrent.UnsafeBuffer;
            """.replace("\n", " ");

    @TempDir
    static Path folder;

    private static DocumentShell shell;
    private static CommandProcess daemon;
    private static CommandProcess daemonOfSnippets;

    @BeforeAll
    static void serve() throws IOException {
        shell = new DocumentShell(folder);
        assumeTrue(shell.bash("python3 -c 'import numpy' && echo found").equals("found"), "needs numpy for python3");
        String source = "mnist=" + FashionMnist.folder();
        daemon = CommandProcess.start("serve", "--load", source);
        daemonOfSnippets = CommandProcess.start("serve", "--load", source);
        daemon.awaitOut("Done caching.");
        daemonOfSnippets.awaitOut("Done caching.");
    }

    @AfterAll
    static void stop() {
        if (daemon != null) {
            daemon.close();
        }
        if (daemonOfSnippets != null) {
            daemonOfSnippets.close();
        }
    }

    private static Stream<Block> blocks(Set<String> languages) throws IOException {
        return MarkdownDocument.all(ROOT).stream()
                .flatMap(document -> document.blocks().stream())
                .filter(block -> languages.contains(block.language()));
    }

    @TestFactory
    Stream<DynamicNode> commandsOfTheReadmeRun() throws IOException {
        return commandsOf(document -> document.name().equals(README));
    }

    @Tag("slow")
    @TestFactory
    Stream<DynamicNode> commandsOfTheGuidesRun() throws IOException {
        return commandsOf(document -> !document.name().equals(README));
    }

    private static Stream<DynamicNode> commandsOf(Predicate<MarkdownDocument> chosen) throws IOException {
        return MarkdownDocument.all(ROOT).stream()
                .filter(chosen)
                .map(document -> DynamicContainer.dynamicContainer(document.name(), commandsOf(document)));
    }

    private static Stream<DynamicTest> commandsOf(MarkdownDocument document) {
        Session session = new Session(daemon.store());
        List<DynamicTest> tests = new ArrayList<>();
        for (Block block : document.blocks()) {
            if (SHELL.contains(block.language()) && block.notRun().isEmpty()) {
                tests.add(DynamicTest.dynamicTest(block.toString(), () -> session.run(block)));
            } else if (block.said("file").isPresent()) {
                tests.add(DynamicTest.dynamicTest(block.toString(), () -> write(block)));
            }
        }
        tests.add(DynamicTest.dynamicTest("its daemon ends", session::end));
        return tests.stream();
    }

    private static void write(Block block) throws IOException {
        Files.writeString(shell.work().resolve(block.value()), String.join("\n", block.text()) + "\n");
    }

    @Test
    void snippetsOfJavaCompileAndRun() throws Exception {
        List<JavaSnippet> snippets = blocks(Set.of("java"))
                .filter(block -> block.said("module").isEmpty())
                .map(block -> JavaSnippet.of(block, Surroundings.class.getName()))
                .toList();
        Path classes = Files.createDirectories(folder.resolve("classes"));
        assertThat(JavaSnippet.compile(snippets, IMPORTS, classes)).isEmpty();

        String output = runJava(classes, snippets);

        assertThat(output.lines()
                        .filter(line -> line.startsWith(SnippetRunner.RAN))
                        .count())
                .as(output)
                .isEqualTo(snippets.size());
    }

    @Test
    void theTourNamesTheImportsThatItsLinesNeed() throws IOException {
        List<Block> blocks = blocks(Set.of("java"))
                .filter(block -> block.document().endsWith("TOUR.md"))
                .filter(block -> block.said("module").isEmpty())
                .toList();
        List<JavaSnippet> snippets = blocks.stream()
                .map(block -> JavaSnippet.of(block, Surroundings.class.getName()))
                .toList();

        String imports = String.join(" ", blocks.get(0).text());

        assertThat(imports).startsWith("import dev.larder.client.*;");
        assertThat(JavaSnippet.compile(snippets, imports, Files.createDirectories(folder.resolve("tour"))))
                .isEmpty();
    }

    /** Runs snippets in a JVM that is the only rank of its group. */
    private static String runJava(Path classes, List<JavaSnippet> snippets) throws Exception {
        List<String> words =
                new ArrayList<>(List.of("java", "-cp", classes + java.io.File.pathSeparator + JavaSnippet.classPath()));
        words.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", SnippetRunner.class.getName()));
        snippets.forEach(snippet -> words.add(snippet.className()));
        return shell.bash("LARDER_STORE=" + daemonOfSnippets.store() + " larder launch -n 1 --no-prefix -- "
                + words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" ")));
    }

    @TestFactory
    Stream<DynamicTest> snippetsOfPythonRun() throws IOException {
        return blocks(Set.of("python"))
                .filter(block -> block.said("file").isEmpty())
                .map(block -> DynamicTest.dynamicTest(block.toString(), () -> runPython(block)));
    }

    /** Runs a snippet with its surroundings, while somebody publishes the batches that it may wait for. */
    private static void runPython(Block block) throws Exception {
        String program = "from surroundings import *\n" + String.join("\n", block.text());
        Files.writeString(shell.work().resolve("snippet.py"), program);
        try (Larder larder = Larder.connect(daemonOfSnippets.store())) {
            larder.getOrCreate("scan", Surroundings::scan).close();
            String python = "LARDER_STORE=" + larder.store()
                    + " timeout 60 python3 -W error -W 'ignore:waiting for at most' snippet.py; echo \"@@ $?\"";
            CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> shell.bash(python));
            if (program.contains("larder.batches(")) {
                publish(larder);
            }
            assertThat(output.get(90, TimeUnit.SECONDS)).as(block.toString()).endsWith("@@ 0");
        }
    }

    private static void publish(Larder larder) {
        try (Dataset mnist = larder.dataset("mnist");
                Loader loader = Loader.over(mnist)
                        .arrays("train-images", "train-labels")
                        .batchSize(256)
                        .build();
                Epoch epoch = loader.epoch(0);
                BatchPublisher publisher =
                        BatchPublisher.of(larder, "run1").consumers(1).open()) {
            publisher.publish(epoch.iterator().next());
        }
    }

    /** The blocks of one document, on the store that they have come to. */
    private static final class Session {
        private Path store;

        private Session(Path store) {
            this.store = store;
        }

        private void run(Block block) throws Exception {
            if (DocumentShell.statements(block).stream().anyMatch(DocumentShell.Statement::serves)) {
                store = LeavesNothingBehind.newStore();
            } else if (!store.equals(daemon.store()) && !Files.exists(store)) {
                store = daemon.store();
            }
            List<String> failures = shell.run(block, store);
            if (!failures.isEmpty()) {
                fail(String.join("\n", failures));
            }
        }

        private void end() throws IOException {
            shell.reset();
            if (!store.equals(daemon.store()) && Files.exists(store)) {
                assertThat(Answer.of(store, "stop").code()).isZero();
            }
        }
    }
}
