package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lists, describes and shows columns of every kind. */
class ColumnsSeenTest {
    @TempDir
    static Path folder;

    private static final byte[] JPEG =
            Arrays.copyOf(new byte[] {(byte) 0xff, (byte) 0xd8, (byte) 0xff}, 100); // as far as anybody looks

    private static CommandProcess daemon;

    @BeforeAll
    static void serve() throws IOException {
        Path lines = Files.writeString(folder.resolve("line.txt"), "gr\u00f6\u00dfe\nit's\nlast\n");
        Path files = Files.createDirectory(folder.resolve("files"));
        Files.write(files.resolve("a.bin"), new byte[] {1, 2, 'c', (byte) 0xff});
        Files.write(files.resolve("b.bin"), JPEG);
        Path rows = Files.createDirectory(folder.resolve("rows"));
        Samples.vector(rows, "r0", 3);
        Samples.vector(rows, "r1", 2);
        daemon = CommandProcess.serve();
        assertThat(daemon.ask("load", "text=" + lines, "--as", "strings").code())
                .isZero();
        assertThat(daemon.ask("load", "keys=" + lines, "--as", "index").code()).isZero();
        assertThat(daemon.ask("load", "pics=" + files, "--as", "bytes").code()).isZero();
        assertThat(daemon.ask("load", "rag=" + rows, "--as", "ragged").code()).isZero();
        Samples.vector(folder, "v", 7);
        assertThat(daemon.ask("load", "plain=" + folder.resolve("v.npy")).code())
                .isZero();
    }

    @AfterAll
    static void stop() {
        if (daemon != null) {
            daemon.close();
        }
    }

    private static JsonArray list(String... words) {
        return JsonParser.parseString(daemon.ask(words).out()).getAsJsonArray();
    }

    @Test
    void aColumnIsOneLineAndTheJsonListsItsArraysAndNamesIt() {
        assertThat(daemon.ask("ls").lines())
                .contains(
                        "text/line   strings     3 rows",
                        "keys/line   index       3 keys",
                        "pics/files  bytes       2 rows")
                .contains("rag/data    ragged |u1  2 rows", "plain/v     |u1         (7,)");

        JsonArray arrays = list("ls", "text", "--json");

        assertThat(arrays).hasSize(2);
        assertThat(arrays.get(0).getAsJsonObject().get("column").getAsString()).isEqualTo("text/line");
        assertThat(arrays.get(0).getAsJsonObject().get("columnKind").getAsString())
                .isEqualTo("strings");
        assertThat(list("ls", "plain", "--json")
                        .get(0)
                        .getAsJsonObject()
                        .get("column")
                        .isJsonNull())
                .isTrue();
    }

    @Test
    void theNameOfADatasetIsRefusedWithItsColumnsAndThoseOfClassesLast() throws IOException {
        Path photos = Files.createDirectories(folder.resolve("photos/cat"));
        Files.write(photos.resolve("b.jpg"), JPEG);
        assertThat(daemon.ask("load", "photos=" + photos.getParent(), "--as", "images")
                        .code())
                .isZero();

        Answer shown = daemon.ask("show", "photos");
        Answer path = daemon.ask("path", "photos");

        assertThat(shown.code()).isEqualTo(4);
        assertThat(shown.err())
                .contains("the dataset has several arrays: dataset=photos arrays=7 store=")
                .endsWith("; name one: photos/image, photos/path, photos/label, photos/classes\n");
        assertThat(path.err()).contains("; name one: photos/classes/bytes, ");
        assertThat(daemon.ask("evict", "--forget", "photos").code()).isZero();
    }

    @Test
    void aPatternNarrowsAndWhatMatchesNothingIsRefusedWithNearNames() {
        assertThat(daemon.ask("ls", "text").lines())
                .containsExactly("NAME       DTYPE    SHAPE", "text/line  strings  3 rows");
        assertThat(daemon.ask("ls", "plain/").lines()).hasSize(2);
        assertThat(daemon.ask("ls", "*/line").lines()).hasSize(3);
        assertThat(daemon.ask("ls", "text/line/*").lines()).hasSize(3).contains("text/line/offsets  <i8    (4,)");

        Answer unknown = daemon.ask("ls", "plan");
        Answer nothing = daemon.ask("ls", "x*", "--json");

        assertThat(daemon.ask("ls", "").err()).endsWith("; larder ls lists all\n");
        assertThat(unknown.code()).isEqualTo(4);
        assertThat(unknown.err()).contains("no such dataset: dataset=plan store=", "did you mean plain?");
        assertThat(nothing.code()).isEqualTo(4);
        assertThat(nothing.out()).isEmpty();
        assertThat(nothing.err()).contains("no array matches: pattern=x* store=");
    }

    @Test
    void infoDescribesAColumnAsOneThing() {
        assertThat(daemon.ask("info", "text").lines())
                .contains(
                        "name     text/line",
                        "column   strings",
                        "rows     3",
                        "arrays   text/line/bytes text/line/offsets");
        assertThat(daemon.ask("info", "text/line/bytes").lines()).contains("dtype    |u1");
        assertThat(list("info", "text/line", "--json")).hasSize(2);
    }

    @Test
    void whatIsOnlyRegisteredHasNoShape() {
        daemon.ask("register", "cold=" + folder.resolve("v.npy"));

        assertThat(daemon.ask("info", "cold").lines())
                .hasSize(3)
                .contains("state    registered: loaded when a process opens it, or by larder wait cold");
    }

    @Test
    void rowsAreShownAsWhatTheyAre() {
        assertThat(daemon.ask("show", "text").lines())
                .containsExactly("line column=strings rows=3", "0  'gr\u00f6\u00dfe'", "1  \"it's\"", "2  'last'");
        assertThat(daemon.ask("show", "text/line", "--rows", "1").lines())
                .containsExactly("line column=strings rows=3 shown=1:2", "1  \"it's\"");
        assertThat(daemon.ask("show", "keys").lines()).contains("2  'last' -> 2");
        assertThat(daemon.ask("show", "pics/files").lines())
                .contains("0  'a.bin' bytes=4 b'\\x01\\x02c\\xff'")
                .anyMatch(line -> line.startsWith("1  'b.bin' bytes=100 b'") && line.endsWith("'..."));
        assertThat(daemon.ask("show", "rag/data").lines())
                .startsWith(
                        "data column=ragged dtype=|u1 rows=2", "0  shape=[3]", "   [0 1 2]", "1  shape=[2]", "   [0 1]")
                .anyMatch(line -> line.startsWith("min=0 max=2 mean=0.8"));
    }

    @Test
    void rowsAreShownAsJson() {
        assertThat(JsonParser.parseString(daemon.ask("show", "text", "--json").out())
                        .getAsJsonObject()
                        .get("values"))
                .hasToString("[\"gr\u00f6\u00dfe\",\"it's\",\"last\"]");
        assertThat(daemon.ask("show", "rag/data", "--json").out())
                .contains("\"values\":[[0,1,2],[0,1]]", "\"mean\":0.8");
        assertThat(daemon.ask("show", "keys", "--json").out()).contains("{\"key\":\"last\",\"row\":2}");
    }

    @Test
    void aColumnHasNoFileOfItsOwnAndNoPicture() {
        Answer path = daemon.ask("path", "text/line");

        assertThat(path.code()).isEqualTo(4);
        assertThat(path.err())
                .contains("a column has one file for each of its arrays", "text/line/bytes, text/line/offsets");
        assertThat(daemon.ask("show", "text", "--png", folder.resolve("x.png").toString())
                        .code())
                .isEqualTo(6);
        assertThat(daemon.ask("verify", "text/line").out()).contains("files=2");
    }

    @Test
    void oneImageOfAColumnOfFilesIsWrittenAsItIs() throws IOException {
        String file = folder.resolve("one.jpg").toString();

        Answer first = daemon.ask("show", "pics/files", "--png", file);
        Answer all = daemon.ask("show", "pics/files", "--png", file, "--rows", ":");
        assertThat(Path.of(file)).doesNotExist();
        Answer second = daemon.ask("show", "pics/files", "--png", file, "--rows", "1");

        assertThat(first.code()).isEqualTo(6);
        assertThat(first.err()).contains("only arrays and files of images can be drawn: column=files row=0");
        assertThat(all.err()).contains("of a column one image is written at a time: column=pics/files rows=2; ");
        assertThat(second.err()).isEqualTo("larder: wrote " + file + ": row 1, the file as it is\n");
        assertThat(Path.of(file)).hasBinaryContent(JPEG);
    }

    @ParameterizedTest
    @CsvSource({
        "larder info p, pics plain",
        "larder show pics/, pics/file pics/files/names pics/files",
        "larder run --hold te, text",
        "larder feed run1 pl, plain",
        "larder show --rows , ''",
        "larder load te, ''",
        "larder --store /nowhere info p, ''",
        "larder inf, info"
    })
    void namesAreCompletedFromTheStore(String line, String completions) throws Exception {
        String script = daemon.ask("completion").out().replace("compopt ", ": ") + """
                read -ra COMP_WORDS <<<"$1"
                [[ $1 != *' ' ]] || COMP_WORDS+=('')
                COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1
                _larder_with_names
                echo "${COMPREPLY[*]}"
                """;
        Path file = Files.writeString(folder.resolve("completion.bash"), script);

        ProcessBuilder bash = new ProcessBuilder("bash", file.toString(), line.replace("--rows", "--rows "));
        bash.environment().put("LARDER_STORE", daemon.store().toString());
        Process process = bash.redirectErrorStream(true).start();

        assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .isEqualTo(completions + "\n");
    }

    @ParameterizedTest
    @CsvSource({
        "larder info p, pics plain",
        "larder show pics/, pics/file pics/files pics/files/names",
        "larder run --hold te, text",
        "larder feed run1 pl, plain",
        "larder --store /nowhere info p, ''",
        "larder load --as im, images",
        "larder serve --capac, --capacity",
        "larder inf, info"
    })
    void fishCompletesTheSame(String line, String completions) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/fish")), "needs fish");
        Path file = Files.writeString(
                folder.resolve("completion.fish"),
                daemon.ask("completion", "fish").out());

        assertThat(shell("fish", "-N", "-c", "source " + file + "; complete -C '" + line + "'")
                        .lines()
                        .map(found -> found.split("\t", -1)[0])
                        .collect(Collectors.joining(" ")))
                .isEqualTo(completions);
    }

    @Tag("slow")
    @Test
    void zshCompletesByTheScriptForBash() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/zsh")), "needs zsh");
        Path script = Files.writeString(
                folder.resolve("completion.zsh"),
                daemon.ask("completion", "zsh").out());
        Path typist = Files.writeString(folder.resolve("typist.zsh"), """
                zmodload zsh/zpty
                zpty z zsh -f -i
                zpty -w z "autoload -U compinit && compinit -u -D; source %s; PS1='REA''DY>'"
                zpty -r -m z seen '*READY>*'
                zpty -w -n z $'larder show pics/files/n\\t'
                zpty -r -m z seen '*pics/files/names*' && echo completed
                """.formatted(script));

        assertThat(shell("timeout", "60", "zsh", "-f", typist.toString())).isEqualTo("completed\n");
    }

    private static String shell(String... words) throws IOException {
        ProcessBuilder shell = new ProcessBuilder(words);
        shell.environment().put("LARDER_STORE", daemon.store().toString());
        Process process = shell.redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void aSlashAtTheEndOfANameIsOfNoConsequence() {
        assertThat(daemon.ask("pin", "plain/").code()).isZero();
        assertThat(daemon.ask("path", "plain/").out()).endsWith("v.npy\n");
        assertThat(daemon.ask("info", "plain/v/").lines()).contains("pinned   yes");
        assertThat(daemon.ask("unpin", "plain/").code()).isZero();
    }
}
