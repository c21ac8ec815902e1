package dev.larder.command.program;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program that replaces this process, and its arguments.
 *
 * @param program the first word
 * @param bytes all words as the kernel passed them to this process, because names may not be UTF-8
 */
public record ProgramWords(String program, List<byte[]> bytes) {
    private static final Path OWN_COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final String USUAL_PATH = "/bin:/usr/bin";
    private static final int NOT_FOUND = 127;
    private static final int CANNOT_RUN = 126;

    /** Returns the last words of the command line of this process. */
    public static ProgramWords of(List<String> words) {
        return new ProgramWords(words.get(0), bytes(words, ownWords()));
    }

    /** Returns the bytes of the words that end a command line; encodes words that differ from it. */
    public static List<byte[]> bytes(List<String> words, List<byte[]> line) {
        List<byte[]> bytes = new ArrayList<>();
        int skipped = line.size() - words.size();
        for (int i = 0; i < words.size(); i++) {
            byte[] encoded = words.get(i).getBytes(StandardCharsets.UTF_8);
            byte[] passed = skipped + i >= 0 ? line.get(skipped + i) : encoded;
            boolean same = new String(passed, StandardCharsets.UTF_8).equals(words.get(i));
            bytes.add(same ? passed : encoded);
        }
        return bytes;
    }

    private static List<byte[]> ownWords() {
        List<byte[]> words = new ArrayList<>();
        try {
            ByteArrayOutputStream word = new ByteArrayOutputStream();
            for (byte b : Files.readAllBytes(OWN_COMMAND_LINE)) {
                if (b == 0) {
                    words.add(word.toByteArray());
                    word.reset();
                } else {
                    word.write(b);
                }
            }
        } catch (IOException unreadable) {
            return List.of(); // the words are encoded instead
        }
        return words;
    }

    /** Returns whether the program exists, so that a wrong name fails before any wait. */
    public boolean isFound(@Nullable String path) {
        if (program.indexOf('/') >= 0) {
            return Files.exists(Path.of(program));
        }
        for (String folder : (path == null ? USUAL_PATH : path).split(":", -1)) {
            if (Files.isRegularFile(Path.of(folder, program))) {
                return true;
            }
        }
        return false;
    }

    /** Reports that the program does not exist, and returns the exit code that shells use for it. */
    public int notFound(PrintWriter err) {
        err.println("larder: command not found: command=" + program + "; check its name and PATH");
        return NOT_FOUND;
    }

    /** Reports why the program did not start, and returns the exit code that shells use for it. */
    public int cannotRun(LarderException reason, PrintWriter err) {
        if (reason.code() == ErrorCode.NOT_FOUND) {
            return notFound(err);
        }
        err.println("larder: cannot run the command: command=" + program + " reason=" + reason.getMessage()
                + "; check that it is an executable file");
        return CANNOT_RUN;
    }
}
