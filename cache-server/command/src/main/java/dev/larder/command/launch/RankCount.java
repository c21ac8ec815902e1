package dev.larder.command.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Parses the number of ranks: a number, or the name of a count. */
public final class RankCount {
    private static final Path NVIDIA_GPUS = Path.of("/proc/driver/nvidia/gpus");

    private RankCount() {}

    /** Returns the number of ranks for a word of the command line: a number, {@code cpu}, {@code gpu} or {@code auto}. */
    public static int parse(String text, CommandLine commandLine) {
        int cores = Runtime.getRuntime().availableProcessors();
        int gpus = gpus(System.getenv("CUDA_VISIBLE_DEVICES"), NVIDIA_GPUS);
        int count = count(text, cores, gpus);
        if (count == 0) {
            throw new ParameterException(commandLine, "no NVIDIA GPU is visible: use a number, cpu or auto");
        }
        if (count < 0) {
            throw new ParameterException(
                    commandLine, "not a number of ranks: '" + text + "' (it is a number, auto, cpu or gpu)");
        }
        return count;
    }

    /** Returns the number; 0 if there is nothing to count, −1 for another text. */
    static int count(String text, int cores, int gpus) {
        return switch (text) {
            case "cpu" -> cores;
            case "gpu" -> gpus;
            case "auto" -> gpus > 0 ? gpus : cores;
            default -> text.matches("[1-9]\\d{0,5}") ? Integer.parseInt(text) : -1;
        };
    }

    /** Counts the GPUs that CUDA programs see: those named in the variable, of those that the driver lists. */
    static int gpus(@Nullable String visible, Path listed) {
        int there = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(listed)) {
            for (Path entry : entries) {
                there += Files.isDirectory(entry) ? 1 : 0;
            }
        } catch (IOException noDriver) {
            return 0;
        }
        if (visible == null) {
            return there;
        }
        int named = 0;
        for (String name : visible.split(",", -1)) {
            if (name.isBlank() || name.strip().startsWith("-")) {
                break; // CUDA ignores the devices after one that does not exist
            }
            named++;
        }
        return Math.min(named, there);
    }
}
