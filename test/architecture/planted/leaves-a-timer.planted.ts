test('leaves a timer', () => {
  expect(setInterval(() => undefined, 1_000).hasRef()).toBe(true);
});
