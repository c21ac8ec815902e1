package dev.larder.server.remote;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.HugePages;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.reader.Target;
import java.util.List;

/**
 * Gives files their memory in huge pages, on a thread of its own, before the reader fills them, so that no data has to be moved to huge pages later.
 * If the kernel has none, or no space is left, it ends: the reader uses small pages, or fails.
 */
final class PagesAhead {
    private final Thread thread;
    private volatile boolean closed;

    private PagesAhead(List<Target> files) {
        thread = new Thread(() -> prepareAll(files), "larder-pages-ahead");
        thread.setDaemon(true);
    }

    /**
     * Prepares files while they are filled, in their order. They have their lengths by then. No thread of this process can write to them afterwards.
     */
    static void during(List<Target> files, Runnable filling) {
        PagesAhead pages =
                new PagesAhead(files.stream().filter(PagesAhead::hasHugePieces).toList());
        pages.thread.start();
        try {
            filling.run();
        } finally {
            pages.end();
        }
    }

    private static boolean hasHugePieces(Target file) {
        return file.offset() + file.byteSize() >= PageSize.HUGE_BYTES;
    }

    private void prepareAll(List<Target> files) {
        for (Target file : files) {
            if (!prepare(file)) {
                return;
            }
        }
    }

    private boolean prepare(Target file) {
        Posix posix = Posix.system();
        try {
            int descriptor = posix.openForWriting(file.path());
            try {
                return HugePages.prepare(posix, descriptor, file.offset() + file.byteSize(), () -> !closed);
            } finally {
                posix.close(descriptor);
            }
        } catch (LarderException e) { // such as no more descriptors: the reader uses small pages
            return false;
        }
    }

    /** Takes as long as one huge page. */
    private void end() {
        closed = true;
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
