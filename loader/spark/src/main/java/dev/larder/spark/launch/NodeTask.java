package dev.larder.spark.launch;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.util.CollectionAccumulator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * Runs a node in each task of a barrier stage. This is a Scala function, because Spark's Java API has no barriers, and a barrier with an
 * evaluator starts ordinary tasks.
 */
final class NodeTask extends AbstractFunction1<Iterator<Integer>, Iterator<NodeEnd>> implements Serializable {
    private static final long serialVersionUID = 1;

    private final GangPlan plan;
    private final CollectionAccumulator<NodeEnd> ends;

    /** Runs nodes of this plan, and adds each end to {@code ends}, which the driver reads as soon as the task is over. */
    NodeTask(GangPlan plan, CollectionAccumulator<NodeEnd> ends) {
        this.plan = plan;
        this.ends = ends;
    }

    @Override
    public Iterator<NodeEnd> apply(Iterator<Integer> input) {
        NodeEnd end = new TaskNode(plan, BarrierTaskContext.get()).run();
        ends.add(end);
        return CollectionConverters.asScala(List.of(end).iterator());
    }
}
