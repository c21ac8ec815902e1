package dev.larder.command;

import dev.larder.testing.MarkdownDocument.Block;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the commands of documents, statement by statement, in a folder where {@code ops/larder} is the program under test and what
 * the documents take for granted lies about. Every statement has to end with 0, or as a comment in it says: {@code # exit 3}.
 *
 * <p>A {@code serve} without {@code --detach} stays behind, as in a terminal of its own, once it has loaded.
 */
final class DocumentShell {
    /** What the documents call the reader's own, and where it lies here. */
    private static final Map<String, String> SUBSTITUTIONS = new LinkedHashMap<>();

    static {
        SUBSTITUTIONS.put("/path/to/", "$HOME/");
        SUBSTITUTIONS.put("/data/", "$HOME/");
    }

    private static final Path OPS = Path.of("../../ops").toAbsolutePath().normalize();
    private static final int PATIENCE_S = 300;
    private static final Pattern EXIT = Pattern.compile("# exit (\\d+)");
    private static final Pattern SERVE = Pattern.compile(
            "^(?:ops/)?larder\\b(?!.*--detach).* serve .*|^(?:ops/)?larder serve\\b(?!.*--detach).*", Pattern.DOTALL);
    /** What no test may run, whoever runs it. */
    private static final Pattern FORBIDDEN = Pattern.compile(
            "(?:^|&&|\\|\\||[;|(])\\s*(?:sudo|mount|umount|docker|podman|kubectl|systemctl|loginctl|sysctl"
                    + "|apt-get|srun|sbatch|mvn)\\b");

    private static final Pattern MARK = Pattern.compile("@@ (begin|end) (\\d+)(?: (\\d+))?");

    private final Path folder;
    private final Map<String, String> environment = new LinkedHashMap<>();

    /**
     * A command, which may go over several lines.
     *
     * @param line the number of its first line in the document
     * @param text as it stands there
     */
    record Statement(int line, String text) {
        int expectedCode() {
            Matcher matcher = EXIT.matcher(text);
            return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
        }

        boolean serves() {
            return SERVE.matcher(text).matches();
        }
    }

    /** Prepares a folder: {@code work}, where statements run, {@code home} and {@code bin}. */
    DocumentShell(Path folder) throws IOException {
        this.folder = folder;
        Path ops = Files.createDirectories(folder.resolve("work/ops"));
        Path home = Files.createDirectories(folder.resolve("home"));
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Path script = CommandProcess.script(bin);
        Files.createSymbolicLink(ops.resolve("larder"), script);
        Path java = Path.of(System.getProperty("java.home"), "bin");
        environment.put("PATH", bin + ":" + java + ":" + System.getenv("PATH"));
        environment.put("HOME", home.toString());
        environment.put(
                "USER", "test-" + ProcessHandle.current().pid() + "-documents"); // of stores that are named for users
        environment.put("DATA", home.resolve("folder-of-npy").toString());
        environment.put("TRAINER", "python3 train.py");
        environment.put("LARDER_COMMAND", script.toString());
        environment.put("PYTHONPATH", OPS.resolve("python").toString());
        environment.put("PYTHONDONTWRITEBYTECODE", "1");
        environment.put("POCL_SIGFPE_HANDLER", "0");
        environment.put("LC_ALL", "C.UTF-8");
        reset();
    }

    /** Puts the reader's files back that documents have written over. */
    void reset() throws IOException {
        new DocumentFixtures(work(), folder.resolve("home")).write();
    }

    Path work() {
        return folder.resolve("work");
    }

    /** Sets a variable of the environment of all statements. */
    void set(String variable, String value) {
        environment.put(variable, value);
    }

    /** Returns the environment of all statements. */
    Map<String, String> environment() {
        return environment;
    }

    /** Runs a block on a store and returns what went wrong, a text for each statement that failed. */
    List<String> run(Block block, Path store) throws Exception {
        set("LARDER_STORE", store.toString());
        if (!block.text().isEmpty() && block.text().get(0).startsWith("#!")) {
            return runWhole(block);
        }
        List<Statement> statements = statements(block);
        for (Statement statement : statements) {
            if (FORBIDDEN.matcher(statement.text()).find()) {
                return List.of(
                        block + ": a test cannot run this; say why behind the fence, as in 'sh not-run: needs root'");
            }
        }
        String output = bash(script(statements));
        return failures(block, statements, output);
    }

    private List<String> runWhole(Block block) throws Exception {
        Path file = Files.writeString(work().resolve("script"), String.join("\n", block.text()) + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        String output = bash("./script; echo \"@@ end $?\"");
        return output.endsWith("@@ end 0") ? List.of() : List.of(block + ": the script failed:\n" + output);
    }

    /** Divides a block into statements: lines, and more of them where a line is not the end of one. */
    static List<Statement> statements(Block block) throws Exception {
        List<Statement> statements = new ArrayList<>();
        boolean isSession = block.language().equals("console");
        StringBuilder open = new StringBuilder();
        int begin = 0;
        for (int i = 0; i < block.text().size(); i++) {
            String line = block.text().get(i);
            if (open.isEmpty()) {
                if (line.isBlank() || line.startsWith("#") || (isSession && !line.startsWith("$ "))) {
                    continue;
                }
                begin = block.line() + i;
            }
            open.append(isSession && open.isEmpty() ? line.substring(2) : line).append('\n');
            if (!line.endsWith("\\") && isWhole(open.toString())) {
                statements.add(new Statement(begin, open.toString().strip()));
                open.setLength(0);
            }
        }
        if (!open.isEmpty()) {
            throw new AssertionError(block.document() + ":" + begin + ": not bash:\n" + open);
        }
        return statements;
    }

    /** Asks bash whether a text can be parsed. */
    static boolean isWhole(String text) throws Exception {
        Process process = new ProcessBuilder("bash", "-n", "-c", text)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor() == 0;
    }

    private static String script(List<Statement> statements) {
        StringBuilder script = new StringBuilder();
        for (int i = 0; i < statements.size(); i++) {
            Statement statement = statements.get(i);
            String text = statement.text();
            for (Map.Entry<String, String> substitution : SUBSTITUTIONS.entrySet()) {
                text = text.replace(substitution.getKey(), substitution.getValue());
            }
            script.append("printf '\\n@@ begin ").append(i).append("\\n'\n");
            script.append(statement.serves() ? serving(text) : "{ " + text + "\n} </dev/null\n");
            script.append("printf '\\n@@ end ").append(i).append(" %d\\n' $?\n");
        }
        return script.toString();
    }

    private static String serving(String text) {
        // an earlier log goes first: it could be read before the new daemon empties it
        return "rm -f serve.log; { " + text + "\n} >serve.log 2>&1 </dev/null &\n"
                + "until grep -qs 'Done caching.' serve.log; do kill -0 $! 2>/dev/null || break; sleep 0.1; done\n"
                + "grep 'Done caching.' serve.log || { cat serve.log; false; }\n";
    }

    /** Runs a script in the prepared folder and returns what it wrote. */
    String bash(String script) {
        try {
            Path output = Files.createTempFile(folder, "bash", ".out");
            Path file = Files.writeString(Files.createTempFile(folder, "bash", ".sh"), script);
            ProcessBuilder builder = new ProcessBuilder("bash", file.toString());
            builder.environment().remove("JAVA_TOOL_OPTIONS");
            builder.environment().putAll(environment);
            Process process = builder.directory(work().toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
            }
            return Files.readString(output, StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> failures(Block block, List<Statement> statements, String output) {
        List<String> failures = new ArrayList<>();
        Map<Integer, StringBuilder> said = new LinkedHashMap<>();
        Map<Integer, Integer> codes = new LinkedHashMap<>();
        StringBuilder current = new StringBuilder();
        for (String line : output.lines().toList()) {
            Matcher mark = MARK.matcher(line);
            if (line.isBlank()) {
                continue;
            }
            if (!mark.matches()) {
                current.append("    ").append(line).append('\n');
            } else if (mark.group(1).equals("begin")) {
                current = new StringBuilder();
                said.put(Integer.parseInt(mark.group(2)), current);
            } else {
                codes.put(Integer.parseInt(mark.group(2)), Integer.parseInt(mark.group(3)));
            }
        }
        for (int i = 0; i < statements.size(); i++) {
            Statement statement = statements.get(i);
            Integer code = codes.get(i);
            if (code == null || code != statement.expectedCode()) {
                String end = code == null ? "no end within " + PATIENCE_S + " s" : "exit code " + code;
                failures.add("%s:%d: %s\n  %s\n%s"
                        .formatted(
                                block.document(),
                                statement.line(),
                                end,
                                statement.text(),
                                said.getOrDefault(i, current)));
            }
        }
        return failures;
    }
}
