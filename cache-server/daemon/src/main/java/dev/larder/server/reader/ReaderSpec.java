package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Describes a reader, as its {@code reader.properties} does.
 *
 * @param kind the kind of sources that it reads
 * @param description what that is, for people
 * @param suffixes what names of files end with, for people
 * @param names what names of files match; the group {@code stem} is the name without its suffix
 * @param magic what files begin with, in hex; empty where that tells nothing
 * @param javaVersion the oldest Java that runs it
 * @param isJoining whether the files of a folder, one after the other, are one table
 * @param takes the words of {@code --as} that it knows
 * @param schemes how addresses of places begin that it reads, such as {@code https}; empty for a reader of files
 * @param environment names of variables of the daemon's environment that it may see
 * @param flags what its JVM is told besides
 * @param foreign what names jars of the user's that it needs: a variable, then the words of a command that prints them; empty for none
 * @param classPath what belongs to its class path besides the jars of its folder
 */
public record ReaderSpec(
        String kind,
        String description,
        String suffixes,
        Pattern names,
        String magic,
        int javaVersion,
        boolean isJoining,
        List<String> takes,
        List<String> schemes,
        List<String> environment,
        List<String> flags,
        List<String> foreign,
        List<String> classPath) {
    /** Reads a description; {@code kind} is what its folder is called. */
    static ReaderSpec of(String kind, Properties properties) {
        try {
            return new ReaderSpec(
                    kind,
                    properties.getProperty("description", kind),
                    properties.getProperty("suffixes", ""),
                    Pattern.compile(properties.getProperty("names", "(?<stem>.*)\\." + Pattern.quote(kind))),
                    properties.getProperty("magic", ""),
                    Integer.parseInt(properties.getProperty("java", "17")),
                    Boolean.parseBoolean(properties.getProperty("joins", "false")),
                    words(properties.getProperty("as", "arrays")),
                    words(properties.getProperty("schemes", "")),
                    words(properties.getProperty("environment", "")),
                    words(properties.getProperty("flags", "")),
                    words(properties.getProperty("foreign", "")),
                    Arrays.stream(properties.getProperty("classpath", "").split(":"))
                            .filter(entry -> !entry.isEmpty())
                            .toList());
        } catch (PatternSyntaxException | NumberFormatException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "bad description of a reader")
                    .with("kind", kind)
                    .with("reason", e.getMessage())
                    .cause(e)
                    .remedy("correct its reader.properties, or remove its folder");
        }
    }

    private static List<String> words(String text) {
        return Arrays.stream(text.split("[,\\s]+"))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    /** Tells whether a file is called like one of this kind. */
    public boolean isNamedSo(String fileName) {
        return names.matcher(fileName).matches();
    }

    /** Tells whether a file with this beginning is one of this kind, whatever it is called. */
    boolean beginsSo(byte[] beginning) {
        return !magic.isEmpty() && HexFormat.of().formatHex(beginning).startsWith(magic);
    }

    /** Returns the name of a file without what tells its kind. */
    public String stem(String fileName) {
        Matcher matcher = names.matcher(fileName);
        return matcher.matches() ? matcher.group("stem") : fileName;
    }
}
