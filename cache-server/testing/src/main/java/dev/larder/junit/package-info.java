/**
 * Tests of programs that read datasets: a {@link dev.larder.junit.TestStore} has a daemon in the test's JVM, and
 * {@link dev.larder.junit.LarderExtension} provides one to tests of JUnit.
 */
@NullMarked
package dev.larder.junit;

import org.jspecify.annotations.NullMarked;
