package dev.larder.readers.hdfs;

import dev.larder.reader.BadSource;
import dev.larder.reader.PlaceObject;
import dev.larder.reader.PlaceReader;
import dev.larder.reader.Retries;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;

/** Reads files of HDFS and of other file systems of the user's Hadoop: a file, or all files below a folder. */
public final class HdfsReader implements PlaceReader {
    private static final long NANOS_OF_MS = 1_000_000;

    private final Configuration configuration;

    /** Takes Hadoop's configuration from the class path. */
    public HdfsReader() {
        this(new Configuration());
    }

    HdfsReader(Configuration configuration) {
        this.configuration = configuration;
    }

    @Override
    public String kind() {
        return "hdfs";
    }

    @Override
    public void list(String address, int connections, Consumer<PlaceObject> found) throws IOException {
        Path root = path(address);
        List<FileStatus> status = new ArrayList<>();
        Retries.run(
                () -> status.add(worded(() -> root.getFileSystem(configuration).getFileStatus(root))));
        FileStatus top = status.get(0);
        if (!top.isDirectory()) {
            found.accept(object(top, top.getPath().getName(), true));
            return;
        }
        int prefix = top.getPath().toUri().getPath().length();
        Deque<Path> folders = new ArrayDeque<>(List.of(top.getPath()));
        while (!folders.isEmpty()) {
            listFolder(folders.pop(), prefix, folders, found);
        }
    }

    /** Reports each entry as it arrives, which counts as progress. If a request fails, it tries again and reports the other entries. */
    private void listFolder(Path folder, int prefix, Deque<Path> folders, Consumer<PlaceObject> found)
            throws IOException {
        Set<String> seen = new HashSet<>();
        Retries.run(() -> worded(() -> {
            RemoteIterator<FileStatus> entries =
                    folder.getFileSystem(configuration).listStatusIterator(folder);
            while (entries.hasNext()) {
                FileStatus entry = entries.next();
                if (!seen.add(entry.getPath().getName())) {
                    continue;
                }
                if (entry.isFile()) {
                    String path = entry.getPath().toUri().getPath();
                    found.accept(object(entry, path.substring(prefix).replaceFirst("^/", ""), false));
                } else if (entry.isDirectory()) {
                    folders.push(entry.getPath());
                }
            }
            return seen;
        }));
    }

    private static PlaceObject object(FileStatus status, String name, boolean isAlone) {
        return new PlaceObject(
                status.getPath().toString(),
                name,
                isAlone,
                status.getLen(),
                status.getModificationTime() * NANOS_OF_MS,
                tag(status),
                true);
    }

    private static String tag(FileStatus status) {
        String tag = status instanceof EtagSource source ? source.getEtag() : null;
        return tag == null ? status.getLen() + " bytes of " + status.getModificationTime() : tag;
    }

    @Override
    public InputStream open(PlaceObject object, long from, long end) throws IOException {
        Path path = path(object.address());
        return worded(() -> {
            FileSystem files = path.getFileSystem(configuration);
            String tag = tag(files.getFileStatus(path));
            if (!tag.equals(object.tag())) {
                throw BadSource.changed(0, "it is " + tag + ", was " + object.tag());
            }
            FSDataInputStream in = files.open(path);
            try {
                in.seek(from);
                return in;
            } catch (IOException | RuntimeException e) {
                in.close();
                throw e;
            }
        });
    }

    private static Path path(String address) throws BadSource {
        try {
            return new Path(address);
        } catch (IllegalArgumentException e) {
            throw bad("it is not the address of a file", "give hdfs://NAMENODE/PATH, or hdfs:///PATH");
        }
    }

    /** A step that Hadoop may refuse. */
    private interface Step<T> {
        T take() throws IOException;
    }

    /** Turns permanent failures into refusals. */
    private static <T> T worded(Step<T> step) throws IOException {
        try {
            return step.take();
        } catch (FileNotFoundException e) {
            throw bad("it is not there, for the user " + user(), "check the address");
        } catch (AccessControlException e) {
            throw bad(
                    "permission denied for the user " + user(),
                    "give the daemon a ticket (kinit) or HADOOP_USER_NAME, and start it again");
        } catch (UnsupportedFileSystemException e) {
            throw bad("this Hadoop has no file system of that kind", "add its jars to $LARDER_HADOOP_CLASSPATH");
        } catch (IllegalArgumentException e) { // such as a name of a host that cannot be resolved
            throw bad(String.valueOf(e.getMessage()), "check the address, and Hadoop's configuration");
        }
    }

    private static String user() {
        try {
            UserGroupInformation user = UserGroupInformation.getCurrentUser();
            return user.getUserName() + " (" + user.getAuthenticationMethod() + ")";
        } catch (IOException e) {
            return "unknown";
        }
    }

    private static BadSource bad(String reason, String remedy) {
        return new BadSource(0, BadSource.NOWHERE, "", reason, remedy);
    }
}
