/**
 * Fresh processes and what became of them: {@link dev.larder.distributed.process.ChildProcess} starts one and ends it with all
 * that it started, {@link dev.larder.distributed.process.ProcessPool} runs many, a few at a time.
 */
@NullMarked
package dev.larder.distributed.process;

import org.jspecify.annotations.NullMarked;
