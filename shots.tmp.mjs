import { spawn } from 'node:child_process';
import { chromium } from 'playwright-core';
const child = spawn('node', ['dist/main.js','demo','--keep','--json'], {stdio:['pipe','pipe','inherit']});
process.on('exit',()=>child.kill('SIGINT'));
let out=''; child.stdout.on('data', d => out+=d);
while(!out.includes('\n')) await new Promise(r=>setTimeout(r,50));
const {url, link} = JSON.parse(out.split('\n')[0]);
const browser = await chromium.launch({executablePath:'/usr/bin/chromium', args:['--no-sandbox']});
const context = await browser.newContext({ locale:'en-GB', timezoneId:'America/Sao_Paulo', viewport:{width:1280,height:900}});
const page = await context.newPage(); page.setDefaultTimeout(8000);
const S=n=>page.screenshot({path:`/tmp/demo-shots/${n}.png`});
page.on('console', m => m.type()==='error' && console.log('console:', m.text()));
page.on('pageerror', e => console.log('pageerror', e.message));
try {
await page.goto(link); await page.waitForTimeout(2000);
await page.goto(url+'/console/deliveries?outcome=exhausted&status=5xx'); await page.waitForTimeout(1200); await S('2filters');
await page.locator('main a').filter({hasText:/refund/i}).first().click(); await page.waitForTimeout(1500);
await page.getByRole('button',{name:/Resend/}).first().click(); 
const t=Date.now(); await page.getByText(/Accepted by the receiver/).waitFor(); console.log('arrived after', Date.now()-t);
await page.screenshot({path:'/tmp/demo-shots/4resent.png', fullPage:true});
await page.goto(url+'/console'); await page.waitForTimeout(1500);
for (const n of [0,1]) { await page.getByRole('button',{name:/Recover/}).nth(n).click(); await page.waitForTimeout(1500); await S('5recover'+n); await page.keyboard.press('Escape'); await page.waitForTimeout(300);}
await page.getByRole('button',{name:/Recover/}).nth(0).click(); await page.waitForTimeout(1500);
const start = page.locator('dialog[open] button').last(); console.log('start text', await start.innerText());
await start.click(); await page.waitForTimeout(1500); await S('6recovering'); await page.waitForTimeout(6000); await S('7recovered');
} catch(e) { console.log(e.message.slice(0,300)); await S('x'); }
await context.close(); await browser.close(); process.exit();
