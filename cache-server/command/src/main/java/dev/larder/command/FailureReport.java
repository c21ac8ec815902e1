package dev.larder.command;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.NearNames;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns failures into one line on standard error and an exit code. */
final class FailureReport implements IExecutionExceptionHandler, IParameterExceptionHandler {

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
        String command = commandLine.getCommandSpec().qualifiedName();
        String message = unknownCommand(wrongUsage)
                .orElseGet(() -> String.valueOf(wrongUsage.getMessage()).strip());
        commandLine.getErr().println("larder: " + startLow(message) + "; see " + command + " --help");
        return ErrorCode.USAGE.number();
    }

    /** Says what picocli calls an unmatched argument where a command is wanted. */
    private static Optional<String> unknownCommand(ParameterException wrongUsage) {
        if (!(wrongUsage instanceof UnmatchedArgumentException unmatched)
                || wrongUsage.getCommandLine().getSubcommands().isEmpty()
                || unmatched.getUnmatched().get(0).startsWith("-")) {
            return Optional.empty();
        }
        String word = unmatched.getUnmatched().get(0);
        List<String> near =
                NearNames.of(word, wrongUsage.getCommandLine().getSubcommands().keySet());
        return Optional.of("no such command: " + word + (near.isEmpty() ? "" : "; did you mean " + near.get(0) + "?"));
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

    private static String unexpected(Throwable failure, boolean debug) {
        return "unexpected failure: exception=" + failure + (debug ? "" : "; run again with --debug to see where");
    }

    /** Lowers the first letter of a sentence, but leaves words in capitals as they are. */
    private static String startLow(String message) {
        boolean sentence = message.length() > 1 && Character.isLowerCase(message.charAt(1));
        return sentence ? message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1) : message;
    }
}
