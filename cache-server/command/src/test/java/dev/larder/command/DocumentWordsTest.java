package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import dev.larder.error.ErrorCode;
import dev.larder.testing.MarkdownDocument;
import dev.larder.testing.MarkdownDocument.Block;
import dev.larder.testing.MarkdownDocument.Inline;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Compares what the documents say, without running it, with what there is: commands, options, files, codes, findings. */
class DocumentWordsTest {
    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    /** The languages of blocks, each of which some test reads, {@code diff} one in Python; {@code text} is for drawings. */
    private static final Set<String> LANGUAGES =
            Set.of("sh", "bash", "console", "java", "python", "diff", "xml", "yaml", "json", "text");

    /** Why a block may be left out. */
    private static final Set<String> REASONS = Set.of(
            "needs root",
            "needs a container engine",
            "needs a cluster",
            "needs an NVIDIA GPU",
            "needs several memory nodes",
            "takes minutes");

    /** How many may be left out, all together: whoever raises this has thought about it. */
    private static final int MOST_NOT_RUN = 16;

    /** What the runbook quotes of numpy, other servers and the reader's own names. */
    private static final Set<String> OTHERS_WORDS = Set.of(
            "output array is read-only",
            "assignment destination is read-only",
            "Address already in use",
            "d is unchanged",
            "error while loading shared libraries",
            "killed by SIGKILL");

    private static List<MarkdownDocument> documents = List.of();

    @BeforeAll
    static void read() throws IOException {
        documents = MarkdownDocument.all(ROOT);
    }

    private static Stream<Block> blocks() {
        return documents.stream().flatMap(document -> document.blocks().stream());
    }

    private static Stream<Inline> inlines() {
        return documents.stream().flatMap(document -> document.inlines().stream());
    }

    private static String all() {
        return documents.stream().map(MarkdownDocument::text).collect(Collectors.joining("\n"));
    }

    @Test
    void theWholePomOfTheGuideNamesTheCompilerPluginAndTheReleaseOfTheBuild() throws IOException {
        Pattern compiler =
                Pattern.compile("<artifactId>maven-compiler-plugin</artifactId>\\s*<version>[0-9.]+</version>");
        Pattern release = Pattern.compile("<maven.compiler.release>\\d+</maven.compiler.release>");
        String build = Files.readString(ROOT.resolve("pom.xml"));
        String pom = blocks().filter(block -> block.document().equals("ops/docs/how-to/CLIENT.md")
                        && block.language().equals("xml"))
                .map(block -> String.join("\n", block.text()))
                .findFirst()
                .orElseThrow();

        for (Pattern part : List.of(compiler, release)) {
            String expected =
                    part.matcher(build).results().findFirst().orElseThrow().group();
            assertThat(pom.replaceAll("\\s", "")).contains(expected.replaceAll("\\s", ""));
        }
        assertThat(pom).startsWith("<project ").endsWith("</project>");
    }

    @Test
    void everyBlockHasALanguageThatSomeTestReads() {
        assertThat(blocks().filter(block -> !LANGUAGES.contains(block.language())))
                .isEmpty();
    }

    @Test
    void littleIsNotRunAndForKnownReasons() {
        List<Block> notRun =
                blocks().filter(block -> block.notRun().isPresent()).toList();

        assertThat(notRun).hasSizeLessThanOrEqualTo(MOST_NOT_RUN);
        assertThat(notRun.stream().filter(block -> !REASONS.contains(block.value())))
                .isEmpty();
    }

    @Test
    void whatIsSaidOfABlockIsUnderstood() {
        assertThat(blocks().filter(block -> !block.key().isEmpty())
                        .filter(block -> !Set.of("not-run", "file", "module").contains(block.key())))
                .isEmpty();
        assertThat(blocks().flatMap(block -> block.said("module").stream()))
                .containsOnly("loader/djl", "cache-server/testing");
    }

    @Test
    void whatIsNotRunIsAtLeastBash() throws Exception {
        for (Block block : blocks().filter(block -> block.notRun().isPresent()).toList()) {
            assertThat(DocumentShell.isWhole(String.join("\n", block.text())))
                    .as(block.toString())
                    .isTrue();
        }
    }

    @Test
    void whatIsDataCanBeParsed() throws Exception {
        for (Block block : blocks().toList()) {
            String text = String.join("\n", block.text());
            switch (block.language()) {
                case "xml" ->
                    DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
                case "json" -> assertThat(JsonParser.parseString(text)).isNotNull();
                case "yaml" ->
                    assertThat(new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(text))
                            .as(block.toString())
                            .allSatisfy(document -> assertThat(document).isNotNull());
                default -> assertThat(block.text()).as(block.toString()).isNotEmpty();
            }
        }
    }

    @Test
    void everyCommandInProseExists() {
        assertThat(inlines()
                        .flatMap(inline -> CommandWords.complaints(inline.text()).stream()
                                .map(complaint -> inline + ": " + complaint)))
                .isEmpty();
    }

    @Test
    void everyCommandThatIsNotRunExists() {
        assertThat(blocks().filter(block -> block.notRun().isPresent())
                        .flatMap(block -> block.text().stream()
                                .flatMap(line -> CommandWords.complaints(line).stream())
                                .map(complaint -> block + ": " + complaint)))
                .isEmpty();
    }

    @Test
    void everyOptionInProseExists() {
        assertThat(inlines()
                        .flatMap(inline -> CommandWords.unknownOption(inline.text()).stream()
                                .map(complaint -> inline + ": " + complaint)))
                .isEmpty();
    }

    @Test
    void everyCommandAndOptionIsMentioned() {
        String all = all();
        Set<String> missing = new TreeSet<>();
        CommandWords.commands().forEach((name, command) -> {
            if (!all.contains("larder " + name) && !all.contains("`" + name)) {
                missing.add(name);
            }
            command.getCommandSpec().options().stream()
                    .filter(option -> !option.hidden())
                    .filter(option -> Stream.of(option.names())
                            .filter(each -> each.startsWith("--"))
                            .map(each -> Pattern.compile(Pattern.quote(each) + "(?![\\w-])"))
                            .noneMatch(each -> each.matcher(all).find()))
                    .forEach(option -> missing.add(name + " " + option.longestName()));
        });

        assertThat(missing).isEmpty();
    }

    @Test
    void everyLinkLeadsToSomething() {
        assertThat(documents.stream()
                        .flatMap(document -> document.links().stream()
                                .filter(link -> !link.text().contains("://")
                                        && !link.text().startsWith("#"))
                                .filter(link -> !Files.exists(document.path()
                                        .resolveSibling(link.text().replaceAll("#.*", ""))))))
                .isEmpty();
    }

    @Test
    void everyDocumentCanBeFoundFromTheReadme() {
        Set<String> linked = new TreeSet<>();
        for (MarkdownDocument document : documents) {
            document.links()
                    .forEach(link -> linked.add(ROOT.relativize(
                                    document.path().resolveSibling(link.text()).normalize())
                            .toString()));
        }

        assertThat(documents.stream()
                        .map(MarkdownDocument::name)
                        .filter(name -> !name.equals("README.md") && !name.startsWith("ops/docs/decisions/")))
                .allSatisfy(name -> assertThat(linked).contains(name));
    }

    @Test
    void everyFileThatIsNamedExists() {
        List<String> missing = new ArrayList<>();
        inlines()
                .filter(inline -> inline.text().matches("(ops|bench|loader|cache-client|cache-server)/[\\w./-]+"))
                .filter(inline -> !inline.text().contains("/target"))
                .filter(inline -> !Files.exists(ROOT.resolve(inline.text())))
                .forEach(inline -> missing.add(inline.toString()));

        assertThat(missing).isEmpty();
    }

    @Test
    void messagesInTheRunbookStandInTheSources() throws IOException {
        String sources = sources();
        List<String> gone = new ArrayList<>();
        inlines()
                .filter(inline -> inline.document().endsWith("RUNBOOK.md"))
                .filter(inline -> inline.isFirstCell() && !inline.text().contains("="))
                .filter(inline -> !OTHERS_WORDS.contains(inline.text()))
                .forEach(inline -> {
                    String words = inline.text().split("[:…]", 2)[0].strip();
                    if (words.contains(" ") && !words.startsWith("larder ") && !sources.contains(words)) {
                        gone.add(inline.toString());
                    }
                });

        assertThat(gone).isEmpty();
    }

    /** Returns all that the programs are made of, with texts that go over several lines in one piece. */
    private static String sources() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String folder : new String[] {"cache-client", "cache-server", "loader", "ops"}) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
                for (Path file : files.filter(DocumentWordsTest::isProgram).toList()) {
                    text.append(Files.readString(file));
                }
            }
        }
        return text.toString().replaceAll("\"\\s*\\+\\s*\"", "");
    }

    private static boolean isProgram(Path file) {
        return Files.isRegularFile(file)
                && file.toString().matches(".*/src/main/.*\\.java|.*/ops/[^/]*|.*/ops/python/.*\\.py");
    }

    @Test
    void theRunbookHasEveryErrorCodeAndItsCategory() {
        List<String> rows =
                runbook().lines().filter(line -> line.startsWith("|")).toList();

        for (ErrorCode code : ErrorCode.values()) {
            String category = switch (code.category()) {
                case RETRY -> "try again";
                case FIX_REQUEST -> "fix the request";
                case STOP -> "stop";
            };
            assertThat(rows)
                    .as(code.name())
                    .anyMatch(row ->
                            row.startsWith("| " + code.number() + " | " + code.name() + " | " + category + " |"));
        }
    }

    @Test
    void theRunbookListsTheChecksOfDoctor() {
        Answer answer = Answer.of("doctor", "--json");

        String checks = JsonParser.parseString(answer.out()).getAsJsonArray().asList().stream()
                .map(finding -> "`" + finding.getAsJsonObject().get("check").getAsString() + "`")
                .collect(Collectors.joining(", "));

        assertThat(runbook().replaceAll("\\s+", " ")).contains(checks + ".");
    }

    private static String runbook() {
        return documents.stream()
                .filter(document -> document.name().endsWith("RUNBOOK.md"))
                .map(MarkdownDocument::text)
                .collect(Collectors.joining());
    }
}
