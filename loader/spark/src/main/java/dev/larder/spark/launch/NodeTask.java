package dev.larder.spark.launch;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.util.CollectionAccumulator;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * Runs a node in each task of a barrier stage. A function of Scala, as Spark's Java API has no barrier, and its barrier takes evaluators
 * but starts plain tasks for them.
 */
final class NodeTask extends AbstractFunction1<Iterator<Integer>, Iterator<NodeEnd>> implements Serializable {
    private static final long serialVersionUID = 1;

    private final GangPlan plan;
    private final CollectionAccumulator<NodeEnd> ends;

    /** {@code ends} tells the driver of each end as soon as its task is over. */
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
