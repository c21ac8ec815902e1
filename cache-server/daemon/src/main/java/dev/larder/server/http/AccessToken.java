package dev.larder.server.http;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The secret that gives access over HTTP: new with each start, or read from a file. */
record AccessToken(String text) {
    static final String PARAMETER = "token=";

    private static final int BYTES = 24;
    private static final String SCHEME = "Bearer ";
    private static final String COOKIE = "larder-";

    /** Characters that need no escape in an address, a header or a cookie. */
    private static final Pattern USABLE = Pattern.compile("[A-Za-z0-9._~-]{16,200}");

    private static final int FORMAT = 0170000;
    private static final int REGULAR = 0100000;
    private static final int PERMISSIONS = 07777;

    /** All access by other users, and write access by the group. */
    private static final int UNSAFE = 027;

    static AccessToken random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return new AccessToken(Base64.getUrlEncoder().encodeToString(bytes));
    }

    /**
     * Returns the token in a file of the user. If there is no file, creates it with a random token, readable by this user and, if given, by
     * the group.
     *
     * @param group the number of the group that may read a new file; null for none
     * @throws dev.larder.error.LarderException REFUSED if other users own, write or read the file, BAD_INPUT if it has no token
     */
    static AccessToken fromFile(Path file, @Nullable Integer group) {
        try {
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                random().createIn(file, group);
            }
            requireSafe(file);
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).strip();
            if (!USABLE.matcher(text).matches()) {
                throw Failure.of(ErrorCode.BAD_INPUT, "the file has no usable token")
                        .with("file", file)
                        .with("characters", text.length())
                        .remedy(
                                "write one line of 16 to 200 letters, digits or any of - . _ ~ into it, or remove it: the"
                                        + " daemon then creates one");
            }
            return new AccessToken(text);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read or create the file of the token for HTTP")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy("name a file in a folder that the daemon can write");
        }
    }

    private static void requireSafe(Path file) throws IOException {
        Map<String, Object> found = Files.readAttributes(file, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        int mode = (Integer) Objects.requireNonNull(found.get("mode"));
        int uid = (Integer) Objects.requireNonNull(found.get("uid"));
        boolean isFile = (mode & FORMAT) == REGULAR;
        if (!isFile
                || (mode & UNSAFE) != 0
                || (uid != 0 && uid != Posix.system().userId())) {
            throw Failure.of(ErrorCode.REFUSED, "the file of the token for HTTP is not safe")
                    .with("file", file)
                    .with("uid", uid)
                    .with("mode", isFile ? Integer.toOctalString(mode & PERMISSIONS) : "no regular file")
                    .remedy("make it a regular file of the daemon's user or root that no other user can read or write,"
                            + " and that its group cannot write: chmod 0640, or 0600");
        }
    }

    /**
     * Creates the file, complete from the moment when other processes see it. If another process has created one meanwhile, that one stays;
     * in a file system without links, the second may replace the first for a moment.
     */
    private void createIn(Path file, @Nullable Integer group) throws IOException {
        Path whole = file.resolveSibling(file.getFileName() + "." + random().text);
        try {
            writeTo(whole, group);
            try {
                Files.createLink(file, whole);
            } catch (FileAlreadyExistsException e) {
                return;
            } catch (UnsupportedOperationException | FileSystemException e) {
                Files.move(whole, file);
            }
        } finally {
            Files.deleteIfExists(whole);
        }
    }

    /** Writes the token to a new file that only its owner may read. */
    void writeTo(Path file) {
        try {
            Files.deleteIfExists(file);
            writeTo(file, null);
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot write the token for HTTP")
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy("check space and permissions of the store");
        }
    }

    private void writeTo(Path file, @Nullable Integer group) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, text + "\n");
        if (group != null) {
            Files.setAttribute(file, "unix:gid", group);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        }
    }

    /** Removes the file, unless another daemon has taken the store and written its own. */
    void removeFrom(Path file) throws IOException {
        try {
            if (Files.readString(file).strip().equals(text)) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException gone) {
            return;
        }
    }

    /** Returns whether a request contains the token in its header, its address or its cookie. Takes the same time for every wrong token. */
    boolean isSentBy(HttpCall call, int port) {
        String header = call.first("authorization");
        return (header != null && header.startsWith(SCHEME) && matches(header.substring(SCHEME.length())))
                || isInAddressOf(call)
                || call.all("cookie").stream()
                        .flatMap(cookies -> parts(cookies, ";"))
                        .anyMatch(part -> isNamed(part.strip(), cookieName(port) + "="));
    }

    /** Returns whether a request contains the token in its address, which other people may see. */
    boolean isInAddressOf(HttpCall call) {
        return parts(call.uri().getRawQuery(), "&").anyMatch(part -> isNamed(part, PARAMETER));
    }

    /**
     * Returns a cookie that ends with the browser's session, that no script can read, and that no other site can make the browser send.
     * Browsers store cookies by host only, so the name contains the port: two daemons do not overwrite each other's.
     */
    String cookie(int port) {
        return cookieName(port) + "=" + text + "; Path=/; HttpOnly; SameSite=Strict";
    }

    private static String cookieName(int port) {
        return COOKIE + port;
    }

    private boolean isNamed(String part, String name) {
        return part.startsWith(name) && matches(part.substring(name.length()));
    }

    private static Stream<String> parts(@Nullable String text, String separator) {
        return text == null ? Stream.empty() : Arrays.stream(text.split(separator));
    }

    private boolean matches(String attempt) {
        return MessageDigest.isEqual(
                attempt.strip().getBytes(StandardCharsets.UTF_8), text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return "AccessToken"; // keeps the token out of logs
    }
}
