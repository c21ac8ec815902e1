package dev.larder.readers.hdfs;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** Runs a name node and a data node of HDFS in a folder, in a process of its own, until its input ends: FOLDER. */
final class HdfsServer {
    /** What its line begins with, before the port. */
    static final String PORT = "port ";

    private HdfsServer() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(new Configuration(), new File(args[0]))
                .numDataNodes(1)
                .build();
        cluster.waitActive();
        System.out.println(PORT + cluster.getNameNodePort());
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        Runtime.getRuntime().halt(0);
    }
}
