package dev.larder.internal.error;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FailureTest {
    static Stream<Arguments> exceptions() {
        return Stream.of(
                Arguments.of(new IOException("No space left on device"), "No space left on device"),
                Arguments.of(new IOException(), "java.io.IOException"),
                Arguments.of(new IOException(" "), "java.io.IOException:  "),
                Arguments.of(new EOFException(), "it ended too early"),
                Arguments.of(
                        new EOFException("Unexpected end of ZLIB input stream"), "Unexpected end of ZLIB input stream"),
                Arguments.of(new UncheckedIOException(new EOFException()), "it ended too early"),
                Arguments.of(new ConnectException("Connection refused"), "Connection refused"),
                Arguments.of(new SocketTimeoutException(), "it took too long"),
                Arguments.of(new UnknownHostException("nowhere"), "unknown host nowhere"),
                Arguments.of(new AsynchronousCloseException(), "it was closed"),
                Arguments.of(
                        new MalformedInputException(2), "java.nio.charset.MalformedInputException: Input length = 2"),
                Arguments.of(new NoSuchFileException("/a"), "/a does not exist"),
                Arguments.of(new AccessDeniedException("/a"), "permission denied: /a"),
                Arguments.of(new FileAlreadyExistsException("/a"), "/a exists already"),
                Arguments.of(new NotDirectoryException("/a"), "/a is not a folder"),
                Arguments.of(new DirectoryNotEmptyException("/a"), "/a is not empty"),
                Arguments.of(new FileSystemException("/a", null, "Input/output error"), "/a: Input/output error"),
                Arguments.of(new FileSystemLoopException("/a"), "java.nio.file.FileSystemLoopException: /a"),
                Arguments.of(new LarderException(6, "no rows: file=/a", null), "no rows: file=/a"),
                Arguments.of(new NullPointerException(), "java.lang.NullPointerException"),
                Arguments.of(new OutOfMemoryError("Java heap space"), "java.lang.OutOfMemoryError: Java heap space"));
    }

    @ParameterizedTest
    @MethodSource("exceptions")
    void exceptionsHaveWords(Throwable reason, String words) {
        LarderException failure = Failure.of(ErrorCode.BAD_INPUT, "cannot read")
                .with("reason", reason)
                .exception();

        assertThat(failure).hasMessage("cannot read: reason=" + words);
    }

    @Test
    void charactersThatTerminalsObeyAreNotShownAndNoLineLooksLikeAMessage() {
        LarderException failure = Failure.of(ErrorCode.BAD_INPUT, "cannot read")
                .with("file", "a\u001b[31m\r\u009b1mü\nlarder: b")
                .exception();

        assertThat(failure).hasMessage("cannot read: file=a?[31m??1mü\n  larder: b");
        assertThat(failure.values()).containsEntry("file", "a\u001b[31m\r\u009b1mü\nlarder: b");
    }
}
