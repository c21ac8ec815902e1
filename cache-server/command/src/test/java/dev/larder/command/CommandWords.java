package dev.larder.command;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Compares command lines of prose, which may leave words out, with the command as it is. */
final class CommandWords {
    /** Where a command line begins. */
    private static final Pattern BEGIN = Pattern.compile("(?:^|[\\s\"(])(?:(?:ops/)?larder (?=[a-z])|ops/larder )(.*)");

    /** Options of other programs, which prose may name. */
    private static final Set<String> FOREIGN = Set.of(
            "--add-exports", "--gpus", "--ipc", "--pid", "--run-path", "--shm-size", "--sun-misc-unsafe-memory-access");

    private static final CommandLine LARDER = LarderCommand.commandLine();

    private CommandWords() {}

    /** Returns the commands by name. */
    static Map<String, CommandLine> commands() {
        return new TreeMap<>(LARDER.getSubcommands());
    }

    /** Returns what is wrong with a text, if it is or has a command line of ours. */
    static List<String> complaints(String text) {
        Matcher begin = BEGIN.matcher(text);
        if (!begin.find() || text.stripLeading().startsWith("#")) {
            return List.of();
        }
        CommandLine command = LARDER;
        for (String word : begin.group(1).split("[\\s\"\\[\\]),;]+", -1)) {
            if (word.equals("--") || word.equals("#") || word.equals("&&")) {
                break;
            }
            if (word.matches("-[^\\d].*")) {
                if (!has(command, word)) {
                    return List.of("no such option: " + word);
                }
            } else if (command == LARDER && !word.isEmpty()) {
                @Nullable CommandLine sub = LARDER.getSubcommands().get(word);
                if (sub == null) {
                    return List.of("no such command: " + word);
                }
                command = sub;
            }
        }
        return List.of();
    }

    private static boolean has(CommandLine command, String word) {
        String name = word.replaceAll("[=…].*", "");
        return Stream.of(command, LARDER)
                .flatMap(each -> each.getCommandSpec().options().stream())
                .flatMap(option -> Stream.of(option.names()))
                .anyMatch(known -> known.equals(name) || (known.matches("-\\w") && name.matches(known + "\\w+")));
    }

    /** Returns an option in a text that begins with one, if no command has it. */
    static List<String> unknownOption(String text) {
        String word = text.split("[\\s=,…]", 2)[0];
        Set<String> known = Stream.concat(Stream.of(LARDER), LARDER.getSubcommands().values().stream())
                .flatMap(command -> command.getCommandSpec().options().stream())
                .map(OptionSpec::names)
                .flatMap(Stream::of)
                .collect(Collectors.toSet());
        boolean isUnknown =
                word.startsWith("--") && word.length() > 2 && !known.contains(word) && !FOREIGN.contains(word);
        return isUnknown ? List.of("no command has " + word) : List.of();
    }
}
