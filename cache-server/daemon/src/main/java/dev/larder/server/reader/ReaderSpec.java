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
 * @param description the kind, for people
 * @param suffixes the ends of the names of its files, for people
 * @param names the pattern of the names of its files; the group {@code stem} is the name without its suffix
 * @param magic the first bytes of its files, in hex; empty if there are none
 * @param javaVersion the oldest Java that runs it
 * @param isJoining whether the files of a folder, one after the other, are one table
 * @param isForFolders whether it reads folders with metadata of Zarr, each with all files below it
 * @param takes the words of {@code --as} that it knows
 * @param schemes the schemes of its addresses, such as {@code https}; empty for a reader of files
 * @param environment the variables of the daemon's environment that it may see
 * @param flags further flags of its JVM
 * @param foreign the source of jars that the user has to install: a variable, then the words of a command that prints them; empty for none
 * @param classPath the entries of its class path besides the jars of its folder
 */
public record ReaderSpec(
        String kind,
        String description,
        String suffixes,
        Pattern names,
        String magic,
        int javaVersion,
        boolean isJoining,
        boolean isForFolders,
        List<String> takes,
        List<String> schemes,
        List<String> environment,
        List<String> flags,
        List<String> foreign,
        List<String> classPath) {
    /** Reads a description; {@code kind} is the name of its folder. */
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
                    Boolean.parseBoolean(properties.getProperty("folders", "false")),
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

    /** Returns whether a file has a name of this kind. */
    public boolean isNamedSo(String fileName) {
        return names.matcher(fileName).matches();
    }

    /** Returns whether a file with this beginning is of this kind, whatever its name is. */
    boolean beginsSo(byte[] beginning) {
        return !magic.isEmpty() && HexFormat.of().formatHex(beginning).startsWith(magic);
    }

    /** Returns the name of a file without its suffix. */
    public String stem(String fileName) {
        Matcher matcher = names.matcher(fileName);
        return matcher.matches() ? matcher.group("stem") : fileName;
    }
}
