/**
 * Fresh processes and their results: {@link dev.larder.launch.process.ChildProcess} starts one and ends it with its
 * descendants, {@link dev.larder.launch.process.ProcessPool} runs many, a few at a time.
 */
@NullMarked
package dev.larder.launch.process;

import org.jspecify.annotations.NullMarked;
