package dev.larder.command;

import dev.larder.command.options.SourceConverter;
import dev.larder.command.output.ByteWriter;
import dev.larder.command.output.FirstCommands;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns failures into one line on standard error and an exit code. */
final class FailureReport implements IExecutionExceptionHandler, IParameterExceptionHandler {
    /** The message for an empty command line. */
    static final String NO_COMMAND = "no command given";

    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");

    /** Picocli's words for the place of an argument, which the reason does not need. */
    private static final Pattern PLACE = Pattern.compile("^Invalid value for positional parameter at index [^:]*: ");

    @Override
    public int handleExecutionException(Exception failure, CommandLine commandLine, ParseResult parsed) {
        if (failure instanceof ParameterException wrongUsage) {
            return handleParseException(wrongUsage, new String[0]);
        }
        LarderCommand larder =
                (LarderCommand) commandLine.getCommandSpec().root().userObject();
        return report(failure, larder.debug, commandLine.getErr());
    }

    @Override
    public int handleParseException(ParameterException wrongUsage, String[] args) {
        CommandLine commandLine = wrongUsage.getCommandLine();
        PrintWriter err = commandLine.getErr();
        String command = commandLine.getCommandSpec().qualifiedName();
        String message = unmatched(wrongUsage)
                .or(() -> unknownOption(wrongUsage, args))
                .or(() -> separated(wrongUsage, args))
                .orElseGet(() -> PLACE.matcher(
                                String.valueOf(wrongUsage.getMessage()).strip())
                        .replaceFirst(""));
        err.println("larder: " + startLow(message) + "; see " + command + " --help");
        if (message.equals(NO_COMMAND)) {
            LarderCommand larder =
                    (LarderCommand) commandLine.getCommandSpec().root().userObject();
            FirstCommands.of(larder::store).forEach(err::println);
        }
        return ErrorCode.USAGE.number();
    }

    /** Returns a message for a word that picocli calls unmatched, with a suggestion. */
    private static Optional<String> unmatched(ParameterException wrongUsage) {
        if (!(wrongUsage instanceof UnmatchedArgumentException unmatched)) {
            return Optional.empty();
        }
        CommandSpec spec = wrongUsage.getCommandLine().getCommandSpec();
        String word = unmatched.getUnmatched().get(0);
        if (word.startsWith("-")) {
            String name = word.replaceFirst("=.*", "");
            Set<String> options = spec.optionsMap().keySet();
            return Optional.of("no such option: " + name + question(NearNames.of(name, options)));
        } else if (!spec.subcommands().isEmpty()) {
            Set<String> commands = spec.subcommands().keySet();
            return Optional.of("no such command: " + word + question(NearNames.of(word, commands)));
        }
        String message = spec.name() + " takes no '" + SourceConverter.shown(word) + "'";
        return Optional.of(
                spec.userObject() instanceof Serve
                        ? message + "; load it with --load " + SourceConverter.suggested(word)
                        : message);
    }

    /** Returns a message for the first unknown option. Picocli reports the word behind it instead, as a wrong or a missing argument. */
    private static Optional<String> unknownOption(ParameterException wrongUsage, String[] args) {
        CommandSpec spec = wrongUsage.getCommandLine().getCommandSpec();
        Map<String, OptionSpec> options = spec.optionsMap();
        List<String> words = List.of(args);
        OptionSpec before = null; // a word may be its value
        for (String word : words.subList(words.indexOf(spec.name()) + 1, words.size())) {
            if (word.equals("--")) {
                break;
            }
            String name = word.replaceFirst("=.*", "");
            OptionSpec option = options.get(name);
            boolean isValue = before != null && before.arity().max() > 0;
            if (isProgram(wrongUsage, word, isValue)) {
                break;
            }
            if (word.startsWith("-") && word.length() > 1 && option == null && !isValue && !isCluster(word, options)) {
                boolean mayBeName = wrongUsage instanceof MissingParameterException;
                return Optional.of("no such option: " + name
                        + (mayBeName
                                ? "; a name that begins with - stands after --"
                                : question(NearNames.of(name, options.keySet()))));
            }
            before = word.contains("=") ? null : option;
        }
        return Optional.empty();
    }

    /** Returns whether this word begins the command line of another program, which has its own options. */
    private static boolean isProgram(ParameterException wrongUsage, String word, boolean isValue) {
        return wrongUsage.getCommandLine().isStopAtPositional() && !isValue && !word.startsWith("-");
    }

    /** Returns whether this word is a short option together with its value, or with others. */
    private static boolean isCluster(String word, Map<String, OptionSpec> options) {
        return !word.startsWith("--") && word.length() > 2 && options.containsKey(word.substring(0, 2));
    }

    /** Returns a message for a name and a path that stand as two words. */
    private static Optional<String> separated(ParameterException wrongUsage, String[] args) {
        int at = Arrays.asList(args).indexOf(wrongUsage.getValue());
        boolean isSource = wrongUsage.getArgSpec() != null
                && Arrays.stream(wrongUsage.getArgSpec().converters()).anyMatch(SourceConverter.class::isInstance);
        if (!isSource || at < 0 || at + 1 == args.length) {
            return Optional.empty();
        }
        String name = args[at];
        String path = args[at + 1];
        boolean areTwoSources = name.contains(".") || path.contains("=") || path.startsWith("-");
        return areTwoSources || name.contains("=") || Names.datasetObjection(name) != null
                ? Optional.empty()
                : Optional.of("a source is one word: " + name + "=" + SourceConverter.shown(path));
    }

    private static String question(List<String> near) {
        return near.isEmpty() ? "" : "; did you mean " + near.get(0) + "?";
    }

    /** Prints a failure and returns its exit code. */
    static int report(Throwable failure, boolean debug, PrintWriter err) {
        boolean known = failure instanceof LarderException;
        err.println("larder: " + (known ? failure.getMessage() : unexpected(failure, debug)));
        if (debug) {
            failure.printStackTrace(err);
        }
        err.flush();
        return known ? ((LarderException) failure).rawCode() : ErrorCode.UNEXPECTED.number();
    }

    /** Reports a part of the output that could not be written, and returns the exit code: 0 also if the reader has closed its pipe. */
    static int ofOutput(ByteWriter out, PrintWriter err) {
        IOException failure = out.failure();
        if (failure == null || isPipe(STANDARD_OUTPUT)) { // the message of a closed pipe depends on the locale
            return 0;
        }
        LarderException lost = Failure.of(ErrorCode.UNEXPECTED, "standard output cannot be written")
                .with("reason", failure.getMessage())
                .remedy("free some space, and run the command again");
        return report(lost, false, err);
    }

    private static boolean isPipe(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("pipe:") || target.startsWith("socket:");
        } catch (IOException e) {
            return false;
        }
    }

    private static String unexpected(Throwable failure, boolean debug) {
        return "unexpected failure: exception=" + failure + (debug ? "" : "; run again with --debug to see where");
    }

    /** Lowers the first letter of a sentence, but leaves words in capitals as they are. */
    private static String startLow(String message) {
        boolean sentence = message.length() > 1 && Character.isLowerCase(message.charAt(1));
        return sentence ? message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1) : message;
    }
}
