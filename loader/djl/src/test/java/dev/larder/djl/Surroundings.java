package dev.larder.djl;

import ai.djl.Model;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;

/** What the snippets of the documents take for granted of this module; they are compiled, not run. */
public abstract class Surroundings {
    protected final Larder larder = Larder.connect();
    protected final Dataset mnist = larder.dataset("mnist");
    protected final Trainer trainer =
            Model.newInstance("document").newTrainer(new DefaultTrainingConfig(Loss.l2Loss()));

    /** Runs the snippet. */
    public abstract void block() throws Exception;
}
