package dev.larder.command.options;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadRequest;
import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Replaces a source {@code NAME=-} by the paths on standard input. */
public final class StandardInput {
    /** The path that means standard input. */
    public static final String PATH = "-";

    private static final byte[] NPY_MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int MAX_LIST_BYTES = 4 << 20;

    private StandardInput() {}

    /** Opens standard input so that its first bytes can be read twice, and a waiting thread can be interrupted. */
    public static InputStream open() {
        InputStream input = Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel());
        return new BufferedInputStream(new FilterInputStream(input) {
            @Override
            public int available() {
                return 0; // the channel's stream reads its position, which a pipe does not have
            }
        });
    }

    /** Returns whether standard input is the only source and begins like a {@code .npy} file. Consumes nothing. */
    public static boolean isArray(List<LoadRequest.Source> sources, InputStream input) {
        return sources.size() == 1 && sources.get(0).path().equals(PATH) && startsLikeArray(input);
    }

    private static boolean startsLikeArray(InputStream input) {
        try {
            input.mark(NPY_MAGIC.length);
            boolean isArray = Arrays.equals(input.readNBytes(NPY_MAGIC.length), NPY_MAGIC);
            input.reset();
            return isArray;
        } catch (IOException e) {
            throw Failure.of(codeOf(e), "cannot read standard input")
                    .with("reason", e)
                    .cause(e)
                    .remedy("give it a list of paths, one a line, or a .npy file");
        }
    }

    /** Returns the sources, with one for each path on standard input in place of {@code NAME=-}. */
    static List<LoadRequest.Source> expand(List<LoadRequest.Source> sources, InputStream input) {
        List<String> names = sources.stream()
                .filter(source -> source.path().equals(PATH))
                .map(LoadRequest.Source::name)
                .toList();
        if (names.isEmpty()) {
            return sources;
        } else if (names.size() > 1) {
            throw Failure.of(ErrorCode.USAGE, "standard input can be one source only")
                    .with("names", names)
                    .remedy("give NAME=- once");
        }
        List<LoadRequest.Source> expanded = new ArrayList<>();
        for (LoadRequest.Source source : sources) {
            if (source.path().equals(PATH)) {
                paths(source.name(), input).forEach(path -> expanded.add(SourceConverter.source(source.name(), path)));
            } else {
                expanded.add(source);
            }
        }
        return expanded;
    }

    private static List<String> paths(String name, InputStream input) {
        if (startsLikeArray(input)) {
            throw array(name);
        }
        try {
            return lines(name, input.readNBytes(MAX_LIST_BYTES + 1));
        } catch (IOException e) {
            throw Failure.of(codeOf(e), "cannot read standard input")
                    .with("name", name)
                    .with("reason", e)
                    .cause(e)
                    .remedy("give it a list of paths, one a line");
        }
    }

    /** Returns the error code for a failed read: an interrupt or bad input. */
    public static ErrorCode codeOf(IOException failure) {
        return failure instanceof ClosedByInterruptException ? ErrorCode.INTERRUPTED : ErrorCode.BAD_INPUT;
    }

    /** Returns the failure for an array on standard input that is not the only source. */
    private static LarderException array(String name) {
        return Failure.of(ErrorCode.BAD_INPUT, "standard input has a .npy file instead of paths")
                .with("name", name)
                .remedy("load it alone, with larder load " + name + "=-");
    }

    private static List<String> lines(String name, byte[] bytes) throws CharacterCodingException {
        if (bytes.length > MAX_LIST_BYTES) {
            throw Failure.of(ErrorCode.BAD_INPUT, "list of paths is too long")
                    .with("name", name)
                    .with("limitBytes", MAX_LIST_BYTES)
                    .remedy("load the folder that holds them");
        }
        List<String> paths = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString()
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
        if (paths.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "standard input lists no path")
                    .with("name", name)
                    .remedy("give it a list of paths, one a line");
        }
        return paths;
    }
}
