package dev.larder.launch.process;

import java.io.IOException;
import java.util.List;

/** Starts a program in a JVM of its own, which tells of it and then waits to be killed. */
final class StarterMain {
    private StarterMain() {}

    public static void main(String[] words) throws IOException {
        try (ChildProcess child = ChildProcess.start(ProcessSpec.of(
                List.of(words),
                OutputRedirect.merged(
                        null, read -> read.forEach(line -> System.out.println("child said " + line.text())))))) {
            System.out.println("pid " + child.pid());
            System.out.println("guardian " + child.guardianPid());
            System.out.flush();
            while (System.in.read() >= 0) {
                System.out.println("guardian " + child.guardianPid());
            }
        }
    }
}
