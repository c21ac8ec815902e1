/**
 * Fresh processes and what became of them: {@link dev.larder.launch.process.ChildProcess} starts one and ends it with all
 * that it started, {@link dev.larder.launch.process.ProcessPool} runs many, a few at a time.
 */
@NullMarked
package dev.larder.launch.process;

import org.jspecify.annotations.NullMarked;
