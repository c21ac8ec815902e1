package dev.larder.command;

import dev.larder.command.output.ByteWriter;
import dev.larder.command.output.Version;
import dev.larder.command.rows.KnownArrays;
import dev.larder.command.serve.Preparation;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLocation;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code larder} command: keeps datasets in shared memory, once for all processes of a machine. */
@Command(
        name = "larder",
        description = "Keeps each dataset in shared memory once, for all processes of a machine.",
        synopsisSubcommandLabel = "COMMAND",
        versionProvider = Version.class,
        footer = {
            "",
            "Sizes are 512m or 10g (powers of 1024), durations 30s, 5m or 2h.",
            "Exit codes: 0 done; 1 unexpected failure; 2 wrong usage; 3 no daemon;",
            "  4 no such dataset or array; 5 not enough space; 6 bad input; 7 refused;",
            "  8 checksum mismatch; 9 deadline passed; 130 interrupted."
        })
public class LarderCommand implements Runnable {
    @Spec
    CommandSpec spec;

    @Option(
            names = "--store",
            paramLabel = "DIR",
            scope = ScopeType.INHERIT,
            description =
                    "The store. Default: $$LARDER_STORE, else your own in /dev/shm or /var/tmp, or the service's: one with a"
                            + " daemon first.")
    @Nullable
    Path store;

    @Option(
            names = "--debug",
            scope = ScopeType.INHERIT,
            description = "Print the stack trace of a failure, including the daemon's; loads use one thread.")
    boolean debug;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help.")
    boolean help;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version.")
    boolean version;

    /** Runs a command line and exits with its code. */
    public static void main(String[] args) {
        if (args.length > 0 && args[0].equals("serve")) {
            Preparation.start();
        }
        ByteWriter out = utf8(FileDescriptor.out);
        ByteWriter err = utf8(FileDescriptor.err);
        int code = commandLine(args).setOut(out).setErr(err).execute(args);
        code = code == 0 ? FailureReport.ofOutput(out, err) : code;
        err.flush();
        Preparation.awaitEnd();
        System.exit(code);
    }

    /** Returns the whole command, ready to execute. */
    static CommandLine commandLine() {
        return readyToExecute(new CommandLine(new WholeLarderCommand()));
    }

    /**
     * Returns as much of the command as it takes to execute this line: picocli looks at every option of every subcommand that it is given,
     * which for all of them takes longer than most of them do.
     */
    static CommandLine commandLine(String... args) {
        if (args.length == 1 && args[0].equals("--version")) {
            return readyToExecute(new CommandLine(new LarderCommand()));
        }
        Object subcommand = args.length == 0 ? null : alone(args[0]);
        return subcommand == null
                ? commandLine()
                : readyToExecute(new CommandLine(new LarderCommand()).addSubcommand(subcommand));
    }

    /** Creates a subcommand by name, to start faster; returns null for those that need the whole command, and for other words. */
    private static @Nullable Object alone(String name) {
        return switch (name) {
            case "clients" -> new Clients();
            case "demo" -> new Demo();
            case "devices" -> new Devices();
            case "doctor" -> new Doctor();
            case "errors" -> new Errors();
            case "evict" -> new Evict();
            case "feed" -> new Feed();
            case "freeze" -> new Freeze();
            case "gc" -> new Gc();
            case "grid" -> new Grid();
            case "info" -> new Info();
            case "launch" -> new Launch();
            case "load" -> new Load();
            case "ls" -> new Ls();
            case "path" -> new ShowPath();
            case "pin" -> new Pin();
            case "readers" -> new ListReaders();
            case "regions" -> new ListRegions();
            case "register" -> new Register();
            case "reload" -> new Reload();
            case "run" -> new Run();
            case "serve" -> new Serve();
            case "show" -> new Show();
            case "status" -> new Status();
            case "stop" -> new Stop();
            case "top" -> new Top();
            case "unpin" -> new Pin.Unpin();
            case "verify" -> new Verify();
            case "wait" -> new Wait();
            default -> null;
        };
    }

    private static CommandLine readyToExecute(CommandLine larder) {
        FailureReport report = new FailureReport();
        Stream.of("run", "launch") // what follows the name of a program belongs to that program
                .map(name -> larder.getSubcommands().get(name))
                .filter(Objects::nonNull)
                .forEach(command -> command.setStopAtPositional(true));
        CommandLine launch = larder.getSubcommands().get("launch");
        if (launch != null) {
            launch.setOverwrittenOptionsAllowed(true); // as with torchrun, the last one counts
            CommandLine.tracer().setLevel(CommandLine.TraceLevel.OFF); // which warns of that
        }
        return larder.setExpandAtFiles(false) // @file is for the program that larder starts, or a path
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(report)
                .setParameterExceptionHandler(report);
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), FailureReport.NO_COMMAND);
    }

    /** Returns the folder of the store that is meant. */
    Path store() {
        return StoreLocation.resolve(store);
    }

    /** Returns a client of the daemon that is meant. */
    ControlClient client() {
        return ControlClient.at(store());
    }

    /** Returns the arrays of the store that is meant. */
    KnownArrays arrays() {
        return new KnownArrays(store(), err());
    }

    PrintWriter out() {
        return spec.commandLine().getOut();
    }

    PrintWriter err() {
        return spec.commandLine().getErr();
    }

    private static ByteWriter utf8(FileDescriptor descriptor) {
        return new ByteWriter(new FileOutputStream(descriptor));
    }

    /** Prints the help of the command or of one of its subcommands. */
    @Command(
            name = "help",
            description = "Show the help of a command, as COMMAND --help does; without a name, that of all.")
    static final class Help implements Callable<Integer> {
        @ParentCommand
        LarderCommand larder;

        @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "The command, such as load.")
        @Nullable
        String command;

        @Override
        public Integer call() {
            CommandLine whole = larder.spec.commandLine();
            CommandLine wanted =
                    command == null ? whole : whole.getSubcommands().get(command);
            if (wanted == null) {
                throw new UnmatchedArgumentException(whole, List.of(String.valueOf(command)));
            }
            wanted.usage(larder.out());
            return 0;
        }
    }
}
