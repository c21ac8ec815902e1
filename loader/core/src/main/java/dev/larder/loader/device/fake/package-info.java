/** A device in plain Java, for tests of trainers and of the loader itself: start at {@link dev.larder.loader.device.fake.FakeDevice}. */
@NullMarked
package dev.larder.loader.device.fake;

import org.jspecify.annotations.NullMarked;
